//! Tests of the simulated disk.

use super::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

fn rng(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

#[test]
fn synced_data_survives_and_unsynced_data_may_be_lost_in_any_order() {
    let (mut lost, mut whole, mut holes) = (0, 0, 0);
    for seed in 0..200 {
        let disk = SimulatedDisk::new();
        disk.write_at(0, &[1; 2_000]).unwrap();
        disk.sync().unwrap();
        disk.write_at(1_000, &[2; 3_000]).unwrap();
        let written = disk.written();
        disk.crash(Crash::Kill, &mut rng(seed));
        assert_eq!(disk.written(), written);
        disk.crash(Crash::PowerCut, &mut rng(seed));
        let left = disk.written();
        assert!(left.len() >= 2_000 && left[..1_000] == [1; 1_000]);
        let new: usize = left[1_000..].iter().map(|&byte| usize::from(byte == 2)).sum();
        lost += u32::from(new == 0);
        whole += u32::from(left == written);
        holes += u32::from(left.windows(2).any(|pair| pair == [1, 2]) && left.windows(2).any(|pair| pair == [2, 1]));
    }
    assert!(lost > 5 && whole > 5 && holes > 5, "{lost} {whole} {holes}");
}

#[test]
fn a_lying_disk_loses_data_that_it_reported_as_synced() {
    let disk = SimulatedDisk::new();
    disk.set_lies(true);
    disk.write_at(0, &[1; 5_000]).unwrap();
    disk.sync().unwrap();
    assert!(disk.synced().is_empty());
    let left = (0..20).map(|seed| {
        let disk = SimulatedDisk::new();
        disk.set_lies(true);
        disk.write_at(0, &[1; 5_000]).unwrap();
        disk.sync().unwrap();
        disk.crash(Crash::PowerCut, &mut rng(seed));
        disk.written() == [1; 5_000]
    });
    assert!(left.filter(|&left| !left).count() > 5);
}

#[test]
fn a_full_disk_writes_what_fits_and_allows_overwriting() {
    let disk = SimulatedDisk::new();
    disk.set_fault(Some(Fault::Full(10)));
    let full = disk.write_at(0, &[1; 20]).unwrap_err();
    assert_eq!((full.kind(), disk.written()), (io::ErrorKind::StorageFull, vec![1; 10]));
    disk.write_at(2, &[2; 3]).unwrap();
    assert_eq!(disk.written(), [1, 1, 2, 2, 2, 1, 1, 1, 1, 1]);
    disk.set_fault(Some(Fault::FailingWrites(4)));
    disk.write_at(10, &[3; 3]).unwrap();
    assert!(disk.write_at(13, &[4; 3]).is_err() && disk.write_at(14, &[4]).is_err());
    assert_eq!(disk.written()[10..], [3, 3, 3, 4]);
}

#[test]
fn data_of_a_failed_sync_is_not_on_the_disk_after_the_next_sync() {
    let mut lost = 0;
    for seed in 0..50 {
        let disk = SimulatedDisk::new();
        disk.write_at(0, &[1; 512]).unwrap();
        disk.set_fault(Some(Fault::FailingSyncs(0)));
        assert!(disk.sync().is_err());
        disk.set_fault(None);
        disk.write_at(512, &[2; 512]).unwrap();
        disk.sync().unwrap();
        disk.crash(Crash::PowerCut, &mut rng(seed));
        let left = disk.written();
        assert!(left.len() == 1_024 && left[512..] == [2; 512]);
        lost += u32::from(left[..512] != [1; 512]);
    }
    assert!(lost > 10);
}

#[test]
fn nothing_is_written_after_the_death_of_the_server() {
    let disk = SimulatedDisk::new();
    disk.set_fault(Some(Fault::DeathInWrite(5)));
    disk.write_at(0, &[1; 3]).unwrap();
    assert!(disk.write_at(3, &[2; 5]).is_err() && disk.is_dead());
    assert!(disk.write_at(0, &[9; 3]).is_err() && disk.sync().is_err() && disk.truncate(0).is_err());
    disk.crash(Crash::Kill, &mut rng(1));
    assert!(!disk.is_dead());
    assert_eq!(disk.written(), [1, 1, 1, 2, 2]);
    disk.set_fault(Some(Fault::DeathInSync(1, true)));
    disk.sync().unwrap();
    disk.write_at(5, &[3]).unwrap();
    assert!(disk.sync().is_err() && disk.is_dead());
    disk.crash(Crash::PowerCut, &mut rng(1));
    assert_eq!(disk.written(), [1, 1, 1, 2, 2, 3]);
}
