//! The instance.

use crate::config::instance::Instance;
use crate::config::table::setting::settings;
use crate::config::values;

settings! {
    CONNECTION:

    URL: Instance = Setting {
        name: "GITLAB_URL",
        aliases: ["GITLAB_API_URL", "GITLAB_HOST", "GITLAB_BASE_URL", "GITLAB_INSTANCE_URL", "GL_HOST"],
        flag: "url", value: "URL", default: "https://gitlab.com",
        example: "https://gitlab.example.com/sub/path",
        what: "URL of the GitLab instance; `sandbox` is a small demo instance inside this program.",
        takes: Text("an http or https URL without user, password, query or fragment; or `sandbox`",
                    values::instance),
    };

    PLAIN_HTTP: bool = Switch {
        name: "GITLAB_PLAIN_HTTP", flag: "plain-http", default: false,
        what: "Send tokens over plain http to another machine, where everyone on the network path can read \
               them.",
    };
}
