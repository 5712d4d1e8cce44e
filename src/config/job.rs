//! Variables that GitLab sets in each CI/CD job (<https://docs.gitlab.com/ci/variables/predefined_variables/>). They are
//! used where no setting says otherwise, and only for the instance that the job belongs to.

use url::Url;

use super::error::ConfigError;
use super::instance::Instance;
use super::sources::{Found, Sources};
use super::table::{CA_FILE, JOB_TOKEN, PROJECT, Setting, URL};
use super::values;

/// Settings with the variable of a job that takes their place.
pub const JOB_VARIABLES: [(&Setting, &str); 4] = [
    (&URL, "CI_SERVER_URL"),
    (&PROJECT, "CI_PROJECT_PATH"),
    (&CA_FILE, "CI_SERVER_TLS_CA_FILE"),
    (&JOB_TOKEN, "CI_JOB_TOKEN"),
];

/// The job that this process runs in.
pub(super) struct Job {
    pub server: Url,
}

impl Sources<'_> {
    /// The job that this process runs in; none outside of a job.
    pub(super) fn job(&self) -> Result<Option<Job>, ConfigError> {
        let Some(found) = self.job_variable(&URL)? else { return Ok(None) };
        let server = self.parse_found(&URL, found, values::root_url)?;
        Ok(Some(Job { server }))
    }

    /// The instance: by its setting, else that of the job, else the default.
    pub(super) fn instance(&self, job: Option<&Job>) -> Result<Instance, ConfigError> {
        match (self.find(&URL)?, job) {
            (None, Some(job)) => Ok(Instance::At(job.server.clone())),
            _ => self.parse_required(&URL, values::instance),
        }
    }

    /// Parses a setting, else the variable of the job. `job` is none if it belongs to another instance.
    pub(super) fn parse_in_job<T>(
        &self,
        job: Option<&Job>,
        setting: &'static Setting,
        parse: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        match (self.parse(setting, parse)?, job) {
            (None, Some(_)) => {
                let found = self.job_variable(setting)?;
                found.map(|found| self.parse_found(setting, found, parse)).transpose()
            }
            (value, _) => Ok(value),
        }
    }

    /// The variable of a job that takes the place of a setting.
    pub(super) fn job_variable(&self, setting: &'static Setting) -> Result<Option<Found>, ConfigError> {
        let name = JOB_VARIABLES.iter().find(|(known, _)| known.name == setting.name).map(|(_, name)| *name);
        let Some(name) = name else { return Ok(None) };
        let Some(value) = (self.lookup)(name).filter(|value| !value.is_empty()) else { return Ok(None) };
        let text = value.into_string().map_err(|_| ConfigError::Encoding(name.to_owned()))?;
        Ok(Some(Found { text, origin: name.to_owned() }))
    }
}

impl Job {
    /// True if the job belongs to this instance.
    pub(super) fn is_on(&self, instance: &Instance) -> bool {
        *instance == Instance::At(self.server.clone())
    }
}
