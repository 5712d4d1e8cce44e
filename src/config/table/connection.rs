//! The instance.

use crate::config::instance::Instance;
use crate::config::table::setting::{Accepts, Row, Setting, settings};
use crate::config::values;

settings! {
    CONNECTION:

    URL: Instance = Setting {
        row: Row {
            name: "GITLAB_URL",
            aliases: &["GITLAB_API_URL", "GITLAB_HOST", "GITLAB_BASE_URL", "GITLAB_INSTANCE_URL", "GL_HOST"],
            flag: Some("url"),
            value: "URL",
            what: "URL of the GitLab instance; `sandbox` is a small demo instance inside this program.",
            default: Some("https://gitlab.com"),
            example: "https://gitlab.example.com/sub/path",
        },
        takes: Accepts::Text(
            "an http or https URL without user, password, query or fragment; or `sandbox`",
            values::instance,
        ),
    };

    PLAIN_HTTP: bool = Setting {
        row: Row {
            name: "GITLAB_PLAIN_HTTP",
            aliases: &[],
            flag: Some("plain-http"),
            value: "BOOL",
            what: "Send tokens over plain http to another machine, where everyone on the network path can read them.",
            default: Some("false"),
            example: "true",
        },
        takes: Accepts::Switch(values::identity),
    };
}
