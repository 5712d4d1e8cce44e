//! Names that read like a restriction. A setting or a header of such a name that does not exist would not hold, and whoever
//! wrote it believes that it does.

/// Words that say what a restriction does.
const RESTRICTING: &str = "IMMUTABLE MODE NO PERMISSION PERMISSIONS RISK ALLOW ALLOWED ALLOWLIST BLACKLIST BLOCK BLOCKED \
    CONFIRM CONFIRMATION CONFIRMATIONS DENIED DENY DENYLIST DISABLE DISABLED DISALLOW DISALLOWED DRY \
    EXCLUDE EXCLUDED FORBID FORBIDDEN HIDDEN HIDE LOCK LOCKDOWN LOCKED NOWRITE ONLY PERMITTED POLICIES \
    PREVENT PROHIBIT PROHIBITED PROTECT PROTECTED READ READABLE READONLY RESTRICT RESTRICTED RESTRICTION \
    RESTRICTIONS SAFE WHITELIST WRITABLE WRITE WRITEABLE WRITES WRITING";

/// Words for several of what a restriction is about: by themselves they are a list of those that may be used.
const RESTRICTED: &str = "ACTIONS DOMAINS GROUPS IDS NAMESPACES PATHS PROJECT PROJECTS REPOS REPOSITORIES TOOL TOOLS TOOLSET \
    TOOLSETS";

/// Words that say it only where a name has no others: `GITLAB_LIMIT_PATHS`, and not `GITLAB_RATE_LIMIT`.
const RESTRICTING_ALONE: &str = "APPROVAL ASK BLOCKLIST DELETE DELETES DELETION DRYRUN LIMIT LIMITED NOWRITES PREVIEW RO RULES \
    SAFEMODE SETS SKIP VISIBLE";

/// Words of restrictions that are written as one, or with others: `ReadOnlyMode`.
const FUSED_WORDS: &str = "READONLY VIEWONLY SAFEMODE DRYRUN CONFIRM NODELETE NOWRITE DESTRUCTIVE APPROVAL";

/// True for a name that reads like a restriction, also where its words are not divided.
pub fn contains_restriction(name: &str) -> bool {
    let fused = name.replace(['-', '_'], "").to_ascii_uppercase();
    let is_one_word = is_in(RESTRICTED, &fused) && fused.ends_with('S');
    FUSED_WORDS.split(' ').any(|word| fused.contains(word)) || is_one_word || reads_like_restriction(name)
}

/// True for a name that has no other words: `DENYLIST`, `READ_ONLY`, and not `PROTECTED_BRANCHES`.
pub fn is_restriction_alone(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words = || name.split(['_', '-']).filter(|word| !word.is_empty());
    let lists = [RESTRICTING, RESTRICTED, RESTRICTING_ALONE];
    reads_like_restriction(&name) && words().all(|word| lists.iter().any(|list| is_in(list, word)))
}

/// True for the words of a name such as `BLOCKED_ACTIONS`, `read-only-enabled` and `Tools`.
pub fn reads_like_restriction(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words = || name.split(['_', '-']).filter(|word| !word.is_empty());
    let is_alone = |word: &str| is_in(RESTRICTING_ALONE, word);
    let is_told = |word: &str| word.ends_with('S') || word.starts_with("TOOL") || is_alone(word);
    words().any(|word| is_in(RESTRICTING, word))
        || (words().all(|word| is_in(RESTRICTED, word) || is_alone(word)) && words().any(is_told))
}

fn is_in(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}
