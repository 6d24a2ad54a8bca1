//! Quotas of hosts: connections, datagrams from unknown addresses, and recorded bytes.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use netcore::{Admission, Full, HostId, Network, Rate, RateTable, Shares, Time, TokenBucket};

/// Connections of a process, if the system permits that many; more are rejected.
pub const MAX_CONNECTIONS: usize = 8_192;
/// File descriptors for listeners, timers, the runtime and files; at most half of the limit.
const RESERVED_FILES: usize = 32;
/// Hosts and networks with a bucket of their own. Other hosts share one limit.
pub(crate) const MAX_HOSTS: usize = 4_096;
/// Datagrams per second with which addresses of one host may become peers: enough for a full table from one machine.
pub const HOST_RATE: Rate = Rate { per_second: 32, burst: 96 };
/// Datagrams per second from unknown addresses of one host that are answered without admitting a peer. Separate from
/// [`HOST_RATE`], so that a broken program does not keep others on its machine from joining.
pub(crate) const ANSWER_RATE: Rate = Rate { per_second: 32, burst: 96 };
/// Datagrams per second of both kinds from all unknown addresses.
pub const UNKNOWN_PEERS_RATE: Rate = Rate { per_second: 1_000, burst: 2_000 };
/// Bytes per second that the inputs of one host may add to the recording of a room. Half of the burst is reserved for
/// peers that record little, to let them play during a flood.
pub const RECORDED_RATE: Rate = Rate { per_second: 300_000, burst: 600_000 };
/// Bytes per second of a peer that records little: five times those of a human player.
const LIGHT: Rate = Rate { per_second: 2_000, burst: 4_000 };
/// The shortest pause, so that a busy peer is not checked for each message.
const PAUSE: Duration = Duration::from_millis(20);

/// The limits on connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The total, which hosts share by the rule of [`Shares`].
    pub connections: usize,
}

impl Limits {
    /// The limits for this process; `open_files` is the system's limit on file descriptors, if any.
    pub fn of(open_files: Option<u64>) -> Self {
        let files = open_files.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
        Self { connections: MAX_CONNECTIONS.min(files - RESERVED_FILES.min(files / 2)).max(2) }
    }
}

/// The maximum number of connections of a process. Clones share the budget, as all transports share the file
/// descriptors.
///
/// ```
/// use netshell::{ConnectionBudget, Limits};
/// use netcore::{Full, HostId};
///
/// let budget = ConnectionBudget::from(Limits { connections: 4 });
/// let (room, page) = (budget.clone(), budget);
/// let host = HostId::of("10.0.0.1:5");
/// let _first = room.open(host)?;
/// let second = page.open(host)?;
/// assert_eq!(room.open(host).unwrap_err(), Full::Share(2));
/// drop(second);
/// assert!(room.open(host).is_ok());
/// # Ok::<(), Full>(())
/// ```
#[derive(Debug, Clone)]
pub struct ConnectionBudget(Arc<Mutex<Shares>>);

impl From<Limits> for ConnectionBudget {
    fn from(limits: Limits) -> Self {
        Self(Arc::new(Mutex::new(Shares::new(limits.connections))))
    }
}

impl ConnectionBudget {
    /// Counts a new connection from a host until the permit is dropped.
    pub fn open(&self, host: HostId) -> Result<ConnectionPermit, Full> {
        self.shares().take(host)?;
        Ok(ConnectionPermit { budget: self.clone(), host: Some(host) })
    }

    /// Counts a connection that is charged to no host, such as one of a trusted reverse proxy.
    pub fn open_unshared(&self) -> Result<ConnectionPermit, Full> {
        self.shares().take_unshared()?;
        Ok(ConnectionPermit { budget: self.clone(), host: None })
    }

    /// The number of connections.
    pub fn count(&self) -> usize {
        self.shares().in_use()
    }

    fn shares(&self) -> MutexGuard<'_, Shares> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection of a [`ConnectionBudget`], until it is dropped.
#[derive(Debug)]
pub struct ConnectionPermit {
    budget: ConnectionBudget,
    host: Option<HostId>,
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut shares = self.budget.shares();
        match self.host {
            Some(host) => shares.release(host),
            None => shares.give_back_unshared(),
        }
    }
}

/// Limits datagrams from unknown addresses. Hosts without a bucket are limited by [`UNKNOWN_PEERS_RATE`] only.
#[derive(Debug)]
pub(crate) struct AdmissionQuota {
    joins: RateTable<Network>,
    answers: RateTable<Network>,
    all: TokenBucket,
}

impl AdmissionQuota {
    pub(crate) fn new(now: Time) -> Self {
        let [joins, answers] = [HOST_RATE, ANSWER_RATE].map(|rate| RateTable::new(rate, MAX_HOSTS));
        Self { joins, answers, all: TokenBucket::new(UNKNOWN_PEERS_RATE, now) }
    }

    pub(crate) fn admit(&mut self, now: Time, address: SocketAddr, admission: Admission) -> bool {
        let hosts = match admission {
            Admission::Ignored => return false,
            Admission::Answered => &mut self.answers,
            Admission::Admitted => &mut self.joins,
        };
        let host = address.into();
        // Checked before the charge, so that a flood neither uses up the rate of all addresses nor fills the table.
        let is_accepted = hosts.ready_at(now, host, 1) == Some(now) && self.all.take(now, 1);
        if is_accepted {
            hosts.charge(now, host, 1);
        }
        is_accepted
    }
}

/// An input is charged after it was recorded, so a host may exceed its quota by one.
#[derive(Debug)]
pub(crate) struct RecordingQuota {
    hosts: RateTable<Network>,
    // Shared by all hosts without a bucket.
    others: TokenBucket,
}

#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) host: HostId,
    light: TokenBucket,
}

impl Account {
    pub(crate) fn new(now: Time, host: HostId) -> Self {
        Self { host, light: TokenBucket::new(LIGHT, now) }
    }
}

impl RecordingQuota {
    pub(crate) fn new(now: Time) -> Self {
        Self { hosts: RateTable::new(RECORDED_RATE, MAX_HOSTS), others: TokenBucket::new(RECORDED_RATE, now) }
    }

    pub(crate) fn charge(&mut self, now: Time, account: &mut Account, bytes: u32) {
        if bytes > 0 {
            account.light.charge(now, bytes);
            if !self.hosts.charge(now, account.host, bytes) {
                self.others.charge(now, bytes);
            }
        }
    }

    /// `None` if inputs of the peer are accepted now.
    pub(crate) fn paused_until(&mut self, now: Time, account: &mut Account) -> Option<Time> {
        let (ready, light) = self.ready_at(now, account.host);
        let until = ready.min(light.max(account.light.ready_at(now, 0).unwrap_or(now)));
        (until > now).then(|| until.max(now.plus(PAUSE)))
    }

    pub(crate) fn accepts_datagram(&mut self, now: Time, host: HostId) -> bool {
        self.ready_at(now, host).0 <= now
    }

    /// A new connection counts as a peer that records little.
    pub(crate) fn accepts_connection(&mut self, now: Time, host: HostId) -> bool {
        self.ready_at(now, host).1 <= now
    }

    // When a host may record more, and when its peers that record little may. A host without a bucket has its full
    // quota, or shares `others` if the table is full.
    fn ready_at(&mut self, now: Time, host: HostId) -> (Time, Time) {
        let (mut ready, mut light) = (now, now);
        let mut visit = |bucket: &mut TokenBucket| {
            let reserved = bucket.rate().burst / 2;
            ready = ready.max(bucket.ready_at(now, reserved).unwrap_or(now));
            light = light.max(bucket.ready_at(now, 0).unwrap_or(now));
        };
        if !self.hosts.visit(host, &mut visit) && self.hosts.is_full() {
            visit(&mut self.others);
        }
        (ready, light)
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    const HOST: HostId = HostId::V4([10, 0, 0, 1]);
    const ELSEWHERE: HostId = HostId::V4([10, 0, 0, 2]);

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn connection_limit_depends_on_the_limit_of_the_system() {
        for (files, connections) in
            [(None, 8_192), (Some(1 << 20), 8_192), (Some(256), 224), (Some(24), 12), (Some(1), 2)]
        {
            assert_eq!(Limits::of(files), Limits { connections }, "{files:?} files");
        }
    }

    #[test]
    fn dropped_permit_frees_its_share() {
        let budget = ConnectionBudget::from(Limits { connections: 2 });
        let (permit, proxy) = (budget.open(HOST).unwrap(), budget.open_unshared().unwrap());
        assert_eq!((budget.open(ELSEWHERE).unwrap_err(), budget.count()), (Full::All(2), 2));
        drop((permit, proxy));
        assert_eq!(budget.count(), 0);
        assert!(budget.open(ELSEWHERE).is_ok());
    }

    fn joins(quota: &mut AdmissionQuota, millis: u64, address: impl Into<SocketAddr>) -> bool {
        quota.admit(at(millis), address.into(), Admission::Admitted)
    }

    #[test]
    fn full_table_of_one_host_is_admitted_and_a_flood_is_limited() {
        let mut quota = AdmissionQuota::new(Time::ZERO);
        let admitted = |quota: &mut AdmissionQuota, millis, count| {
            (0..count).filter(|port| joins(quota, millis, ([10, 0, 0, 1], 1_000 + port))).count()
        };
        assert_eq!(admitted(&mut quota, 0, 27), 27);
        assert_eq!(admitted(&mut quota, 0, 20_000), 96 - 27);
        assert_eq!(admitted(&mut quota, 1_000, 20_000), 32);
        assert!(joins(&mut quota, 1_000, ([10, 0, 0, 2], 1)));
    }

    #[test]
    fn answers_do_not_use_up_the_joins_of_their_host() {
        let mut quota = AdmissionQuota::new(Time::ZERO);
        let from = ([10, 0, 0, 1], 1).into();
        for millis in 0..10_000 {
            assert!(!quota.admit(at(millis), from, Admission::Ignored));
            quota.admit(at(millis), from, Admission::Answered);
            if millis % 1_000 == 0 {
                assert!(joins(&mut quota, millis, ([10, 0, 0, 1], 2)), "after {millis} ms");
            }
        }
    }

    #[test]
    fn rate_of_all_unknown_addresses_is_bounded() {
        let mut quota = AdmissionQuota::new(Time::ZERO);
        let from = |host: u32| SocketAddr::new(IpAddr::V4(host.to_be_bytes().into()), 7);
        let admitted = (0..1_000_000u32).filter(|&host| joins(&mut quota, 0, from(host)));
        assert_eq!(admitted.count(), 2_000);
    }

    fn account(host: HostId) -> Account {
        Account::new(Time::ZERO, host)
    }

    #[test]
    fn flood_records_at_the_rate_of_its_host() {
        for bytes in [14, 72, 65_000] {
            let (mut quota, mut eve) = (RecordingQuota::new(Time::ZERO), account(HOST));
            let mut recorded = 0;
            for millis in 0..10_000 {
                while quota.paused_until(at(millis), &mut eve).is_none() {
                    quota.charge(at(millis), &mut eve, bytes);
                    recorded += bytes;
                }
            }
            let most = 300_000 + 10 * 300_000 + bytes;
            assert!(recorded <= most && recorded > most * 9 / 10, "{recorded} bytes by {bytes}, {most} are allowed");
        }
    }

    #[test]
    fn flood_stops_neither_light_peers_of_its_host_nor_other_hosts() {
        let mut quota = RecordingQuota::new(Time::ZERO);
        let (mut eve, mut ann, mut bob) = (account(HOST), account(HOST), account(ELSEWHERE));
        for millis in 0..10_000 {
            while quota.paused_until(at(millis), &mut eve).is_none() {
                quota.charge(at(millis), &mut eve, 5_000);
            }
            if millis % 50 == 0 {
                assert_eq!(quota.paused_until(at(millis), &mut ann), None, "after {millis} ms");
                quota.charge(at(millis), &mut ann, 14);
            }
            assert_eq!(quota.paused_until(at(millis), &mut bob), None, "after {millis} ms");
            quota.charge(at(millis), &mut bob, 200);
        }
        assert!(quota.paused_until(at(9_999), &mut eve).is_some());
        assert!(!quota.accepts_datagram(at(9_999), HOST) && quota.accepts_datagram(at(9_999), ELSEWHERE));
        assert!(quota.accepts_connection(at(9_999), HOST), "a connection is a light peer");
    }

    #[test]
    fn many_peers_of_one_host_record_no_more_than_one() {
        let mut quota = RecordingQuota::new(Time::ZERO);
        let mut accounts: Vec<Account> = (0..2_000).map(|_| account(HOST)).collect();
        let mut recorded = 0;
        for millis in (0..10_000).step_by(10) {
            for account in &mut accounts {
                if quota.paused_until(at(millis), account).is_none() {
                    quota.charge(at(millis), account, 65_000);
                    recorded += 65_000;
                }
            }
        }
        let most = 600_000 + 10 * 300_000 + 65_000;
        assert!(recorded <= most && recorded > 3_000_000, "{recorded} bytes, {most} are allowed");
    }

    #[test]
    fn exhausted_host_gets_no_connections_until_its_bucket_refills() {
        let (mut quota, mut eve) = (RecordingQuota::new(Time::ZERO), account(HOST));
        quota.charge(Time::ZERO, &mut eve, 900_000);
        assert_eq!(quota.paused_until(Time::ZERO, &mut eve), Some(at(2_000)));
        assert!(!quota.accepts_connection(at(999), HOST) && quota.accepts_connection(at(1_000), HOST));
        assert_eq!(quota.paused_until(at(1_999), &mut eve), Some(at(2_019)), "no shorter than a pause");
        assert!(!quota.accepts_datagram(at(1_999), HOST) && quota.accepts_datagram(at(2_000), HOST));
        assert_eq!(quota.paused_until(at(2_000), &mut eve), None);
    }

    #[test]
    fn hosts_without_a_bucket_share_one() {
        let mut quota = RecordingQuota::new(Time::ZERO);
        let mut accounts: Vec<Account> = (0..5_000u32).map(|host| account(HostId::V4(host.to_be_bytes()))).collect();
        for account in &mut accounts {
            quota.charge(Time::ZERO, account, 300_001);
        }
        let mut until = |account: &mut Account| quota.paused_until(Time::ZERO, account);
        assert_eq!(until(&mut accounts[0]), Some(at(20)));
        let shared = until(&mut accounts[4_999]).unwrap();
        assert!(shared > at(800_000), "{shared:?}: the hosts after the first 4,096 have used one bucket");
        assert!(until(&mut account(HOST)).is_some());
    }
}
