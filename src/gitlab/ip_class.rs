//! Classes of IP addresses, and which of them GitLab may redirect to (SSRF protection).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Network class of an address, as seen from this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum IpClass {
    /// The internet.
    Public,
    /// A private network.
    Private,
    /// This machine.
    Own,
    /// Special-purpose addresses: link-local, multicast, reserved, and cloud metadata services.
    Special,
}

/// Cloud metadata services other than the link-local 169.254.169.254: Alibaba, Oracle, Azure.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192), Ipv4Addr::new(168, 63, 129, 16)];
/// Cloud metadata services in private IPv6: AWS, Google Cloud, Oracle Cloud, Scaleway.
const METADATA_V6: [Ipv6Addr; 4] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
];

/// Domains that are internal whatever they resolve to, subdomains included: `localhost` (RFC 6761), `local` (RFC 6762),
/// `home.arpa` (RFC 8375), `internal` (reserved by ICANN for private use).
const NAMES: [(&str, IpClass); 5] = [
    ("metadata.google.internal", IpClass::Special),
    ("localhost", IpClass::Own),
    ("local", IpClass::Private),
    ("home.arpa", IpClass::Private),
    ("internal", IpClass::Private),
];

impl IpClass {
    /// True if a GitLab at `gitlab` may redirect to an address of this class. A GitLab in the local network may
    /// redirect to object storage in that network, but not to this machine, which is the user's.
    pub(super) fn is_reachable_from(self, gitlab: IpClass) -> bool {
        match self {
            IpClass::Public => true,
            IpClass::Private => matches!(gitlab, IpClass::Private | IpClass::Own),
            IpClass::Own | IpClass::Special => self == gitlab,
        }
    }

    /// Classifies the host of a URL without resolving it. A name of an unknown domain counts as public.
    pub(super) fn of_url(url: &Url) -> IpClass {
        match url.host() {
            Some(Host::Domain(name)) => IpClass::of_name(name),
            Some(Host::Ipv4(ip)) => IpClass::classify(IpAddr::V4(ip)),
            Some(Host::Ipv6(ip)) => IpClass::classify(IpAddr::V6(ip)),
            None => IpClass::Special,
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
    // 240 and up is reserved (RFC 1112), including broadcast; 0 is this network (RFC 1122).
    let is_special = ip.is_link_local() || ip.is_multicast() || a >= 240 || METADATA_V4.contains(&ip);
    // Shared address space (RFC 6598) and benchmarking (RFC 2544).
    let is_shared = (a == 100 && (64..128).contains(&b)) || (a == 198 && (18..20).contains(&b));
    match () {
        () if is_special => IpClass::Special,
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
        _ if ip.is_unicast_link_local() || ip.is_multicast() || METADATA_V6.contains(&ip) => IpClass::Special,
        // Site-local is deprecated (RFC 3879) but still routed.
        _ if ip.is_unique_local() || a & 0xffc0 == 0xfec0 => IpClass::Private,
        _ => IpClass::Public,
    }
}

/// True if the URL's host is this machine, which no proxy can reach.
pub(super) fn is_loopback(url: &Url) -> bool {
    IpClass::of_url(url) == IpClass::Own
}
