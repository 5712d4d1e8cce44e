//! Variables that GitLab sets in each CI/CD job (<https://docs.gitlab.com/ci/variables/predefined_variables/>). They are
//! used where no setting says otherwise, and only for the instance that the job belongs to.

use url::Url;

use super::error::ConfigError;
use super::instance::Instance;
use super::sources::{FoundValue, Sources};
use super::table::{CA_FILE, JOB_TOKEN, PROJECT, Row, Setting, URL};

/// Settings with the variable of a job that takes their place.
pub static JOB_VARIABLES: [(&Row, &str); 4] = [
    (&URL.row, "CI_SERVER_URL"),
    (&PROJECT.row, "CI_PROJECT_PATH"),
    (&CA_FILE.row, "CI_SERVER_TLS_CA_FILE"),
    (&JOB_TOKEN.row, "CI_JOB_TOKEN"),
];

/// The job that this process runs in.
pub(super) struct JobCredentials {
    pub server: Url,
}

impl Sources<'_> {
    /// The job that this process runs in; none outside of a job.
    pub(super) fn job(&self) -> Result<Option<JobCredentials>, ConfigError> {
        let Some(found) = self.job_variable(&URL)? else { return Ok(None) };
        match self.parse_found(&URL, found)? {
            Instance::At(server) => Ok(Some(JobCredentials { server })),
            Instance::Sandbox => Ok(None),
        }
    }

    /// The instance: by its setting, else that of the job, else the default.
    pub(super) fn instance(&self, job: Option<&JobCredentials>) -> Result<Instance, ConfigError> {
        match (self.find(&URL)?, job) {
            (None, Some(job)) => Ok(Instance::At(job.server.clone())),
            _ => self.parse_required(&URL),
        }
    }

    /// Parses a setting, else the variable of the job. `job` is none if it belongs to another instance.
    pub(super) fn parse_in_job<T: Clone + Sync>(
        &self,
        job: Option<&JobCredentials>,
        setting: &'static Setting<T>,
    ) -> Result<Option<T>, ConfigError> {
        match (self.parse(setting)?, job) {
            (None, Some(_)) => {
                let found = self.job_variable(setting)?;
                found.map(|found| self.parse_found(setting, found)).transpose()
            }
            (value, _) => Ok(value),
        }
    }

    /// The variable of a job that takes the place of a setting.
    pub(super) fn job_variable(&self, row: &Row) -> Result<Option<FoundValue>, ConfigError> {
        let name = JOB_VARIABLES.iter().find(|(known, _)| known.name == row.name).map(|(_, name)| *name);
        let Some(name) = name else { return Ok(None) };
        let Some(value) = (self.lookup)(name).filter(|value| !value.is_empty()) else { return Ok(None) };
        let text = value.into_string().map_err(|_| ConfigError::Encoding(name.to_owned()))?;
        Ok(Some(FoundValue { text, origin: name.to_owned() }))
    }
}

impl JobCredentials {
    /// True if the job belongs to this instance.
    pub(super) fn is_on(&self, instance: &Instance) -> bool {
        *instance == Instance::At(self.server.clone())
    }
}
