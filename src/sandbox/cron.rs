//! Next runs of pipeline schedules: cron expressions in time zones.

use time::{Date, Duration, Month, OffsetDateTime};

const ZONES: &str = include_str!("world/zones.txt");

/// The least and the greatest value of each field: minute, hour, day, month, weekday.
const FIELDS: [(u8, u8); 5] = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)];
const MONTHS: &str = "jan feb mar apr may jun jul aug sep oct nov dec";
const WEEKDAYS: &str = "sun mon tue wed thu fri sat";
/// Characters of forms that GitLab takes and the sandbox cannot compute, such as the last day of a month.
const FURTHER: &str = "@#%&L";
/// Minutes past each ten at which GitLab looks for schedules to run, by the default of `pipeline_schedule_worker`.
const WORKER: u8 = 3;

/// A cron expression: the values of each field as bits.
struct Cron {
    fields: [u64; 5],
    /// True if a day of the month and a weekday are given, of which one is enough.
    either: bool,
}

impl Cron {
    fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = parts.as_slice() else { return None };
        let fields = [
            values(minute, FIELDS[0], "")?,
            values(hour, FIELDS[1], "")?,
            values(day, FIELDS[2], "")?,
            values(month, FIELDS[3], MONTHS)?,
            values(weekday, FIELDS[4], WEEKDAYS)?,
        ];
        Some(Self { fields, either: *day != "*" && *weekday != "*" })
    }

    /// The first minute after a time that the expression names in a zone; none within five years.
    fn next(&self, zone: &Zone, after: OffsetDateTime) -> Option<OffsetDateTime> {
        let [minutes, hours, days, months, weekdays] = self.fields;
        let has = |bits: u64, value: u8| (bits >> value) & 1 == 1;
        let mut at = after.replace_second(0).ok()? + Duration::MINUTE;
        let end = at + Duration::days(5 * 366);
        while at < end {
            let local = at + zone.offset(at)?;
            let weekday = local.weekday().number_days_from_sunday();
            let (day, weekday) =
                (has(days, local.day()), has(weekdays, weekday) || weekday == 0 && has(weekdays, 7));
            let on = has(months, local.month().into())
                && if self.either { day || weekday } else { day && weekday };
            if !on || !has(hours, local.hour()) {
                at += Duration::minutes(60 - i64::from(local.minute()));
            } else if has(minutes, local.minute()) {
                return Some(at);
            } else {
                at += Duration::MINUTE;
            }
        }
        None
    }
}

/// The values of a field as bits: `*`, numbers, names, ranges and steps.
fn values(text: &str, (low, high): (u8, u8), names: &str) -> Option<u64> {
    let number = |text: &str| {
        let named = names.split(' ').position(|name| name.eq_ignore_ascii_case(text));
        // Months count from 1, weekdays from 0.
        let named = named.and_then(|at| u8::try_from(at).ok()).map(|at| at + low);
        let number = named.filter(|_| !text.is_empty()).or_else(|| text.parse().ok());
        number.filter(|number| (low..=high).contains(number))
    };
    let mut bits = 0;
    for part in text.split(',') {
        let (range, step) = part.split_once('/').unwrap_or((part, "1"));
        let step = step.parse().ok().filter(|step| *step > 0)?;
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (low, high),
            Some((first, last)) => (number(first)?, number(last)?),
            None if part.contains('/') => (number(range)?, high),
            None => (number(range)?, number(range)?),
        };
        // A range may go over the end, as in `fri-mon`.
        let over = (first > last).then_some(low..=last);
        let until = if over.is_some() { high } else { last };
        let values = (first..=until).chain(over.into_iter().flatten());
        values.step_by(step).for_each(|value| bits |= 1_u64 << value);
    }
    Some(bits)
}

/// The numbers of a line of [`ZONES`].
struct Zone(Vec<i64>);

impl Zone {
    /// The zone of this name, which may be its city alone, as Rails has it.
    fn named(name: &str) -> Option<Self> {
        let city = name.replace(' ', "_");
        let is_it =
            |known: &str| known == name || known.rsplit_once('/').is_some_and(|(_, last)| last == city);
        let lines = ZONES.lines().filter(|line| !line.starts_with('#'));
        let (numbers, _) =
            lines.filter_map(|line| line.split_once(' ')).find(|(_, names)| names.split(' ').any(is_it))?;
        Some(Self(numbers.split(',').filter_map(|number| number.parse().ok()).collect()))
    }

    /// Offset from UTC at a time; none for a zone that has no rule.
    fn offset(&self, at: OffsetDateTime) -> Option<Duration> {
        let standard = Duration::minutes(*self.0.first()?);
        let [_, summer, begin @ ..] = self.0.as_slice() else { return Some(standard) };
        let summer = Duration::minutes(*summer);
        let (begin, end) = begin.split_at_checked(4)?;
        let year = (at + standard).year();
        let (begin, end) = (change(year, begin)? - standard, change(year, end)? - summer);
        let on = if begin < end { begin <= at && at < end } else { !(end <= at && at < begin) };
        Some(if on { summer } else { standard })
    }
}

/// Local time of a change of the clock in a year.
fn change(year: i32, rule: &[i64]) -> Option<OffsetDateTime> {
    let [month, week, weekday, minute] = rule else { return None };
    let month = Month::try_from(u8::try_from(*month).ok()?).ok()?;
    let first = Date::from_calendar_date(year, month, 1).ok()?;
    let ahead = (weekday - i64::from(first.weekday().number_days_from_sunday())).rem_euclid(7);
    let mut day = first + Duration::days(ahead + 7 * (week - 1));
    if day.month() != month {
        day -= Duration::WEEK;
    }
    Some(day.midnight().assume_utc() + Duration::minutes(*minute))
}

/// True unless GitLab refuses a cron expression.
pub fn is_cron(text: &str) -> bool {
    Cron::parse(text).is_some() || text.contains(|letter| FURTHER.contains(letter))
}

/// True unless GitLab refuses a time zone, which it also takes by the names of Rails, such as `Berlin`.
pub fn is_zone(name: &str) -> bool {
    Zone::named(name).is_some() || !name.contains('/')
}

/// When GitLab runs a schedule next: not at the time that its cron expression names, but when it next looks for
/// schedules to run.
pub fn next_run(cron: &str, zone: &str, now: OffsetDateTime) -> Option<OffsetDateTime> {
    let worker = |after: OffsetDateTime| {
        let minutes = i64::from((WORKER + 60 - after.minute()) % 10);
        Some(after.replace_second(0).ok()? + Duration::minutes(if minutes == 0 { 10 } else { minutes }))
    };
    let named = Cron::parse(cron)?.next(&Zone::named(zone)?, now)?;
    if worker(now) == Some(named) { Some(named) } else { worker(named) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use time::format_description::well_known::Rfc3339;

    use super::*;

    /// The minute after a time that an expression names.
    fn named(cron: &str, zone: &str, after: &str) -> Option<String> {
        let after = OffsetDateTime::parse(after, &Rfc3339).unwrap();
        let at = Cron::parse(cron)?.next(&Zone::named(zone)?, after)?;
        Some(at.format(&Rfc3339).unwrap().replace(":00Z", ""))
    }

    #[test]
    fn expressions_name_times_in_their_zone() {
        let monday = "2026-03-02T09:00:00Z";
        for (cron, zone, wanted) in [
            ("0 4 * * *", "UTC", "2026-03-03T04:00"),
            ("0 9 * * *", "UTC", "2026-03-03T09:00"),
            ("*/15 * * * *", "UTC", "2026-03-02T09:15"),
            ("30 6 * * 1-5", "Europe/Berlin", "2026-03-03T05:30"),
            ("30 6 * * 1-5", "Berlin", "2026-03-03T05:30"),
            ("30 6 * * 1-5", "Buenos Aires", "2026-03-02T09:30"),
            ("0 12 30 3 *", "Europe/Berlin", "2026-03-30T10:00"),
            ("0 12 * * sun", "America/New_York", "2026-03-08T16:00"),
            ("0 0 1,15 * *", "Asia/Kolkata", "2026-03-14T18:30"),
            ("0 0 1 * 5", "UTC", "2026-03-06T00:00"),
            ("0 22-2/2 * * *", "UTC", "2026-03-02T22:00"),
            ("0 8 * * fri-mon", "UTC", "2026-03-06T08:00"),
            ("0 8 * jan 7", "Australia/Sydney", "2027-01-02T21:00"),
            ("0 0 29 2 *", "UTC", "2028-02-29T00:00"),
            // The hour that the change to summer time leaves out.
            ("30 2 29 3 *", "Europe/Berlin", "2027-03-29T00:30"),
        ] {
            assert_eq!(named(cron, zone, monday).as_deref(), Some(wanted), "{cron} {zone}");
        }
        assert_eq!(named("0 0 30 2 *", "UTC", monday), None);
        assert_eq!(named("0 0 * * *", "Africa/Casablanca", monday), None);
    }

    #[test]
    fn what_gitlab_refuses_is_known() {
        for cron in ["61 * * * *", "* * * *", "nightly", "0 24 * * *", "*/0 * * * *", "5- * * * *"] {
            assert!(!is_cron(cron), "{cron}");
        }
        assert!(is_cron("0 4 L * *") && is_cron("@daily") && is_cron("0 4 * * MON"));
        assert!(!is_zone("Europe/Sandbox") && is_zone("Berlin") && is_zone("Africa/Casablanca"));
    }

    #[test]
    fn a_schedule_runs_when_gitlab_looks_for_schedules() {
        let run = |cron: &str, now: &str| {
            let now = OffsetDateTime::parse(now, &Rfc3339).unwrap();
            next_run(cron, "UTC", now).unwrap().format(&Rfc3339).unwrap()
        };
        assert_eq!(run("0 4 * * *", "2026-03-02T09:00:01Z"), "2026-03-03T04:03:00Z");
        assert_eq!(run("3 4 * * *", "2026-03-02T09:00:01Z"), "2026-03-03T04:13:00Z");
        assert_eq!(run("3 * * * *", "2026-03-02T09:00:01Z"), "2026-03-02T09:03:00Z");
    }
}
