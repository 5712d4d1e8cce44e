//! What is tested from outside.

mod sandbox;
