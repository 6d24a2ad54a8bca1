use std::path::Path;

use journal_core::{Disk as _, SharedFile};

use super::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

const FILE: &str = "/games/one";

fn on_disk() -> (SimulatedDisk, SharedFile) {
    let disk = SimulatedDisk::new();
    disk.create_directory(Path::new("/games")).unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    let file = disk.create(Path::new(FILE)).unwrap();
    disk.sync_directory(Path::new("/games")).unwrap();
    (disk, file)
}

fn again(disk: &SimulatedDisk) -> SharedFile {
    disk.open(Path::new(FILE), true).unwrap()
}

fn rng(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

#[test]
fn synced_data_survives_and_unsynced_data_may_be_lost_in_any_order() {
    let (mut lost, mut whole, mut holes) = (0, 0, 0);
    for seed in 0..200 {
        let (mut disk, file) = on_disk();
        file.write_at(0, &[1; 2_000]).unwrap();
        file.sync().unwrap();
        file.write_at(1_000, &[2; 3_000]).unwrap();
        let written = disk.written(FILE);
        disk.crash(Crash::Kill, &mut rng(seed));
        assert_eq!(disk.written(FILE), written);
        disk.crash(Crash::PowerCut, &mut rng(seed));
        let left = disk.written(FILE);
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
    let (disk, file) = on_disk();
    disk.set_lies(true);
    file.write_at(0, &[1; 5_000]).unwrap();
    file.sync().unwrap();
    assert!(disk.synced(FILE).is_empty());
    let left = (0..20).map(|seed| {
        let (mut disk, file) = on_disk();
        disk.set_lies(true);
        file.write_at(0, &[1; 5_000]).unwrap();
        file.sync().unwrap();
        disk.crash(Crash::PowerCut, &mut rng(seed));
        disk.written(FILE) == [1; 5_000]
    });
    assert!(left.filter(|&left| !left).count() > 5);
}

#[test]
fn a_full_disk_writes_what_fits_and_allows_overwriting() {
    let (disk, file) = on_disk();
    disk.set_fault(Some(Fault::Full(10)));
    let full = file.write_at(0, &[1; 20]).unwrap_err();
    assert_eq!((full.kind(), disk.written(FILE)), (io::ErrorKind::StorageFull, vec![1; 10]));
    file.write_at(2, &[2; 3]).unwrap();
    assert_eq!(disk.written(FILE), [1, 1, 2, 2, 2, 1, 1, 1, 1, 1]);
    disk.set_fault(Some(Fault::FailingWrites(4)));
    file.write_at(10, &[3; 3]).unwrap();
    assert!(file.write_at(13, &[4; 3]).is_err() && file.write_at(14, &[4]).is_err());
    assert_eq!(disk.written(FILE)[10..], [3, 3, 3, 4]);
}

#[test]
fn data_of_a_failed_sync_is_not_on_the_disk_after_the_next_sync() {
    let mut lost = 0;
    for seed in 0..50 {
        let (mut disk, file) = on_disk();
        file.write_at(0, &[1; 512]).unwrap();
        disk.set_fault(Some(Fault::FailingSyncs(0)));
        assert!(file.sync().is_err());
        disk.set_fault(None);
        file.write_at(512, &[2; 512]).unwrap();
        file.sync().unwrap();
        disk.crash(Crash::PowerCut, &mut rng(seed));
        let left = disk.written(FILE);
        assert!(left.len() == 1_024 && left[512..] == [2; 512]);
        lost += u32::from(left[..512] != [1; 512]);
    }
    assert!(lost > 10);
}

#[test]
fn dead_process_writes_nothing() {
    let (mut disk, file) = on_disk();
    disk.set_fault(Some(Fault::DeathInWrite(5)));
    file.write_at(0, &[1; 3]).unwrap();
    assert!(file.write_at(3, &[2; 5]).is_err() && disk.is_dead());
    assert!(file.write_at(0, &[9; 3]).is_err() && file.sync().is_err() && file.truncate(0).is_err());
    disk.crash(Crash::Kill, &mut rng(1));
    assert!(!disk.is_dead());
    assert_eq!(disk.written(FILE), [1, 1, 1, 2, 2]);
    assert!(file.sync().is_err(), "it was opened by a process that is dead");
    let file = again(&disk);
    disk.set_fault(Some(Fault::DeathInSync(1, true)));
    file.sync().unwrap();
    file.write_at(5, &[3]).unwrap();
    assert!(file.sync().is_err() && disk.is_dead());
    disk.crash(Crash::PowerCut, &mut rng(1));
    assert_eq!(disk.written(FILE), [1, 1, 1, 2, 2, 3]);
}

#[test]
fn names_survive_a_power_cut_after_a_sync_of_their_directory() {
    let (mut kept, mut lost) = (0, 0);
    for seed in 0..40 {
        let (mut disk, file) = on_disk();
        file.sync().unwrap();
        disk.create(Path::new("/games/two")).unwrap().sync().unwrap();
        disk.rename(Path::new(FILE), Path::new("/games/three")).unwrap();
        disk.crash(Crash::Kill, &mut rng(seed));
        assert_eq!(disk.certain().files(), [PathBuf::from(FILE)]);
        disk.crash(Crash::PowerCut, &mut rng(seed));
        let names = disk.files();
        let (one, three) = (names.contains(&FILE.into()), names.contains(&"/games/three".into()));
        assert!(one || three, "a renamed file has one of its names: {names:?}");
        *(if names.contains(&"/games/two".into()) { &mut kept } else { &mut lost }) += 1;
    }
    assert!(kept > 5 && lost > 5, "{kept} {lost}");
}

#[test]
fn lock_is_exclusive_and_ends_with_its_file_or_process() {
    let (mut disk, file) = on_disk();
    assert!(file.try_lock().unwrap() && file.try_lock().unwrap());
    let other = disk.other_process().open(Path::new(FILE), true).unwrap();
    assert!(other.is_locked().unwrap() && !other.try_lock().unwrap() && !file.is_locked().unwrap());
    drop(file);
    assert!(other.try_lock().unwrap());
    disk.crash(Crash::Kill, &mut rng(1));
    assert!(again(&disk).try_lock().unwrap());
}
