//! Commands, settings and doctor.

pub mod audit;
pub mod commands;
pub mod config;
pub mod doctor;
pub mod setup;
