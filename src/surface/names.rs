//! Names of the tools of actions.

/// The longest name that every client takes.
const MAX_NAME_BYTES: usize = 64;

/// The tool of an action: its id with an underscore in place of the dot. Of a longer one than clients take, the
/// beginning and a number made from the whole, which is the same in every release.
pub fn of_action(id: &str) -> String {
    let name = id.replace('.', "_");
    if name.len() <= MAX_NAME_BYTES {
        return name;
    }
    let mark = format!("_{:08x}", fnv(&name));
    format!("{}{mark}", name.get(..MAX_NAME_BYTES - mark.len()).unwrap_or_default())
}

/// True if the tool of an action has that name.
pub fn is_name_of(name: &str, id: &str) -> bool {
    if id.len() > MAX_NAME_BYTES {
        return of_action(id) == name;
    }
    name.len() == id.len() && name.bytes().zip(id.bytes()).all(|(n, i)| n == if i == b'.' { b'_' } else { i })
}

/// FNV-1a in 32 bits: nothing secret, and the same everywhere.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// True if clients and models' providers take the name of a parameter; `$filter` of a package manager is not taken.
pub fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(plain)
}
