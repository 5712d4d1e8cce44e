//! Where an address is, seen from this machine, and what may be reached on GitLab's word alone.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// How far inside an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum IpClass {
    /// The internet.
    Public,
    /// A private network.
    Private,
    /// This machine.
    Own,
    /// What is set apart: link-local, multicast, unspecified, and where clouds keep their metadata.
    SetApart,
}

/// What clouds answer their own machines at, beside the link-local 169.254.169.254: Alibaba, Oracle, Azure.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192), Ipv4Addr::new(168, 63, 129, 16)];
/// The same in private IPv6: AWS, Google Cloud, Oracle Cloud, Scaleway.
const METADATA_V6: [Ipv6Addr; 4] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
];

/// Names that are inside wherever they resolve to, with all that is under them: `localhost` (RFC 6761), `local`
/// (RFC 6762), `home.arpa` (RFC 8375), `internal` (set apart by ICANN for private use).
const NAMES: [(&str, IpClass); 5] = [
    ("metadata.google.internal", IpClass::SetApart),
    ("localhost", IpClass::Own),
    ("local", IpClass::Private),
    ("home.arpa", IpClass::Private),
    ("internal", IpClass::Private),
];

impl IpClass {
    /// True if a GitLab at `gitlab` may lead here. What is inside is led to from inside alone: a GitLab in the
    /// local network to its storage beside it, but not to this machine, which is the user's.
    pub(super) fn may_be_led_to_by(self, gitlab: IpClass) -> bool {
        match self {
            IpClass::Public => true,
            IpClass::Private => matches!(gitlab, IpClass::Private | IpClass::Own),
            IpClass::Own | IpClass::SetApart => self == gitlab,
        }
    }

    /// As far as the URL itself says it: a name that could be anywhere is taken to be public.
    pub(super) fn of_url(url: &Url) -> IpClass {
        match url.host() {
            Some(Host::Domain(name)) => IpClass::of_name(name),
            Some(Host::Ipv4(ip)) => IpClass::classify(IpAddr::V4(ip)),
            Some(Host::Ipv6(ip)) => IpClass::classify(IpAddr::V6(ip)),
            None => IpClass::SetApart,
        }
    }

    fn of_name(name: &str) -> IpClass {
        let name = name.trim_end_matches('.');
        let is_under = |suffix: &str| {
            name.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        match NAMES.iter().find(|(suffix, _)| is_under(suffix)) {
            Some((_, place)) => *place,
            None if !name.contains('.') => IpClass::Private,
            None => IpClass::Public,
        }
    }

    pub(super) fn classify(ip: IpAddr) -> IpClass {
        match ip {
            IpAddr::V4(ip) => of_v4(ip),
            IpAddr::V6(ip) => of_v6(ip),
        }
    }
}

fn of_v4(ip: Ipv4Addr) -> IpClass {
    let [a, b, ..] = ip.octets();
    // 240 and up is reserved (RFC 1112), broadcast among it; 0 is this network (RFC 1122).
    let is_set_apart = ip.is_link_local() || ip.is_multicast() || a >= 240 || METADATA_V4.contains(&ip);
    // Shared address space (RFC 6598), for benchmarks (RFC 2544).
    let is_shared = (a == 100 && (64..128).contains(&b)) || (a == 198 && (18..20).contains(&b));
    match () {
        () if is_set_apart => IpClass::SetApart,
        // Connecting to 0.0.0.0 reaches this machine.
        () if ip.is_loopback() || a == 0 => IpClass::Own,
        () if ip.is_private() || is_shared => IpClass::Private,
        () => IpClass::Public,
    }
}

fn of_v6(ip: Ipv6Addr) -> IpClass {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let v4 = |high: u16, low: u16| {
        let ([w, x], [y, z]) = (high.to_be_bytes(), low.to_be_bytes());
        of_v4(Ipv4Addr::new(w, x, y, z))
    };
    if ip.is_loopback() || ip.is_unspecified() {
        return IpClass::Own;
    }
    match (a, b, c, d, e, f) {
        // Mapped and compatible (RFC 4291), translated (RFC 6052), 6to4 (RFC 3056).
        (0, 0, 0, 0, 0, 0 | 0xffff) | (0x64, 0xff9b, 0, 0, 0, 0) => v4(g, h),
        (0x2002, ..) => v4(b, c),
        // Translated within a network (RFC 8215).
        (0x64, 0xff9b, 1, ..) => IpClass::Private,
        _ if ip.is_unicast_link_local() || ip.is_multicast() || METADATA_V6.contains(&ip) => {
            IpClass::SetApart
        }
        // Site-local is deprecated (RFC 3879) and routed all the same.
        _ if ip.is_unique_local() || a & 0xffc0 == 0xfec0 => IpClass::Private,
        _ => IpClass::Public,
    }
}

/// True if the URL's host is this machine itself, which no proxy can reach.
pub(super) fn is_loopback(url: &Url) -> bool {
    IpClass::of_url(url) == IpClass::Own
}
