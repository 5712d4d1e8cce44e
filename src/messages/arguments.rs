//! The arguments of find and execute, one row each: from it come the schema, the check, the texts about it, and the
//! option of the command line. A new argument is a row here and a field of its request.

/// One argument of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    pub name: &'static str,
    /// Description in the schema. A client's context pays for it in every session.
    pub what: &'static str,
    pub takes: Takes,
    pub required: bool,
    pub serves: Serves,
    /// The option of the command line, if the argument has one.
    pub option: Option<CliOption>,
}

/// Type of an argument.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    Text,
    /// A text; several in a list are parts of one request.
    Request,
    /// A whole number, with the least and the most that the schema names.
    Number(u64, Option<u64>),
    Flag,
    Choice(&'static [&'static str]),
    Object,
    Texts,
}

/// Part of a call that an argument belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// The call itself.
    Call,
    /// Consent to the call. Consent to one call is none to another.
    Consent,
    /// A call that is shown and not sent.
    Preview,
    /// The part of one answer that is shown.
    OneAnswer,
    /// A file that one answer is written to.
    File,
    /// A list as a whole.
    List,
}

/// An option of the command line.
#[derive(Clone, Copy, Debug)]
pub struct CliOption {
    /// Name without its dashes.
    pub name: &'static str,
    /// Placeholder of the value in the help; unused for a flag.
    pub value: &'static str,
    pub help: &'static str,
}

/// Former names of arguments, with the current ones.
pub const FORMER_NAMES: [(&str, &str); 1] = [("plan", "confirmation_token")];

/// Names under which the arguments of a whole call may stand, as the parameters of an action do.
pub const WRAPPERS: [&str; 12] = [
    "parameters",
    "arguments",
    "args",
    "kwargs",
    "input",
    "inputs",
    "tool_input",
    "payload",
    "data",
    "body",
    "options",
    "request",
];

/// Other names that clients and models give to an argument, understood where the argument itself is not given.
pub const OTHER_NAMES: [(&str, &[&str]); 4] = [
    ("params", &WRAPPERS),
    (
        "action",
        &[
            "action_id",
            "actionId",
            "action_name",
            "id",
            "name",
            "tool",
            "tool_name",
            "operation",
            "method",
            "command",
        ],
    ),
    ("limit", &["max_results", "top_k", "count"]),
    ("query", &["q", "request", "prompt", "text", "search", "task", "intent", "queries"]),
];

/// The argument that names one of several configured instances.
pub const INSTANCE: &str = "instance";

const BY_INSTANCE: Argument = Argument::new(INSTANCE, "Which GitLab.", Takes::Text).with_option(
    "instance",
    "NAME",
    "GitLab instance by its name, if several are configured",
);

/// Arguments of `gitlab_find_action`.
pub static FIND_ARGUMENTS: &[Argument] = &[
    Argument::new("query", "The task in words; or an action id, REST path or GitLab URL.", Takes::Request)
        .required(),
    Argument::new("limit", "Default 5.", Takes::Number(1, Some(50))).with_option(
        "limit",
        "NUMBER",
        "Maximum number of actions to show, 1 to 50",
    ),
    Argument::new("domain", "Such as issue.", Takes::Text).with_option(
        "domain",
        "DOMAIN",
        "Only actions of this domain, the part of an id before the dot",
    ),
    // `--read-only` is a setting.
    Argument::new("read_only", "Read actions only.", Takes::Flag),
    Argument::new("detail", "schema: of each result.", Takes::Choice(&["auto", "signature", "schema"]))
        .with_option("detail", "HOW", "Level of detail of each action's parameters"),
    Argument::new("explain", "Why these.", Takes::Flag).with_option(
        "explain",
        "",
        "Explain the rank of each action",
    ),
    BY_INSTANCE,
];

/// Arguments of `gitlab_execute_action`.
pub static EXECUTE_ARGUMENTS: &[Argument] = &[
    Argument::new("action", "The action's id, such as issue.list.", Takes::Text).required(),
    Argument::new(
        "params",
        "Its parameters, such as {\"fullPath\": \"group/project\", \"iid\": 12}; or target: a URL, group/project#12…",
        Takes::Object,
    ),
    Argument::new("confirm", "Only as needs_confirmation says.", Takes::Flag)
        .with_option("confirm", "", "Run it even if it is destructive")
        .serving(Serves::Consent),
    Argument::new("confirmation_token", "Sent by needs_confirmation.", Takes::Text)
        .with_option(
            "confirmation-token",
            "TOKEN",
            "Token from a needs_confirmation error, to run exactly that call",
        )
        .serving(Serves::Consent),
    Argument::new("fields", "Such as author.username.", Takes::Texts)
        .with_option("fields", "FIELDS", "Show only these fields, such as iid,author.username")
        .serving(Serves::OneAnswer),
    Argument::new("view", "full: all that GitLab sent.", Takes::Choice(&["compact", "full"])).with_option(
        "view",
        "HOW",
        "Level of detail of the reply",
    ),
    Argument::new("dry_run", "Send nothing.", Takes::Flag)
        .with_option("dry-run", "", "Show the request without sending it")
        .serving(Serves::Preview),
    Argument::new("offset", "Byte of a long text.", Takes::Number(0, None))
        .with_option("offset", "BYTE", "Continue a long text at this byte, given by the previous result")
        .serving(Serves::OneAnswer),
    Argument::new("lines", "Of a long text: 120-180; -50: the last 50.", Takes::Text)
        .with_option(
            "lines",
            "RANGE",
            "Lines of a long text: 120-180, 120- to the end, -50 for the last fifty",
        )
        .serving(Serves::OneAnswer),
    Argument::new("save_to", "New file for a download.", Takes::Text)
        .with_option("save-to", "FILE", "Save the download to this new file in GITLAB_FILES_DIR")
        .serving(Serves::File),
    Argument::new("all", "Read all pages of a list.", Takes::Flag)
        .with_option("all", "", "Read all pages of a list, within 50 pages and 50 seconds")
        .serving(Serves::List),
    Argument::new("count_by", "Count all rows by this field.", Takes::Text)
        .with_option("count-by", "FIELD", "Count the rows of all pages by a field, such as author.username")
        .serving(Serves::List),
    Argument::new("sum", "Add up this field.", Takes::Text)
        .with_option("sum", "FIELD", "Add up a field over all pages, with --count-by for each group")
        .serving(Serves::List),
    Argument::new("top", "Largest groups.", Takes::Number(1, None))
        .with_option("top", "NUMBER", "Show only the largest groups of --count-by")
        .serving(Serves::List),
    BY_INSTANCE,
];

impl Argument {
    /// An optional argument of the call itself, without an option of the command line.
    const fn new(name: &'static str, what: &'static str, takes: Takes) -> Argument {
        Argument { name, what, takes, required: false, serves: Serves::Call, option: None }
    }

    const fn required(self) -> Argument {
        Argument { required: true, ..self }
    }

    const fn serving(self, serves: Serves) -> Argument {
        Argument { serves, ..self }
    }

    const fn with_option(self, name: &'static str, value: &'static str, help: &'static str) -> Argument {
        Argument { option: Some(CliOption { name, value, help }), ..self }
    }

    /// True for an argument that a call which only reads takes: none that consents, and none that writes a file.
    pub fn is_of_reads(&self) -> bool {
        matches!(self.serves, Serves::Call | Serves::OneAnswer | Serves::List)
    }

    /// True if the argument is about one answer of GitLab, and so not for a call with several.
    pub fn needs_one_answer(&self) -> bool {
        matches!(self.serves, Serves::OneAnswer | Serves::File | Serves::List)
    }

    /// True for an argument next to the action and its parameters.
    pub fn is_beside_params(&self) -> bool {
        !["action", "params"].contains(&self.name)
    }
}

/// True for the name of an argument that gives consent.
pub fn gives_consent(name: &str) -> bool {
    EXECUTE_ARGUMENTS.iter().any(|argument| argument.name == name && argument.serves == Serves::Consent)
}
