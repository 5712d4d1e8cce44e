use std::fs;

use tempfile::TempDir;

use super::*;

/// A directory with a file in it, and a file outside of it.
fn temp_files() -> (TempDir, Files) {
    let around = TempDir::new().unwrap();
    let root = around.path().join("files");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::write(around.path().join("outside.txt"), "not yours").unwrap();
    fs::write(root.join("sub/a.txt"), "hello").unwrap();
    let files = Files::new(root, 1_000);
    (around, files)
}

#[test]
fn a_file_is_read_by_its_path_from_the_directory_or_its_whole_path() {
    let (around, files) = temp_files();
    assert_eq!(files.load("sub/a.txt").unwrap(), b"hello");
    assert_eq!(files.load("./sub/a.txt").unwrap(), b"hello");
    let whole = around.path().join("files/sub/a.txt");
    assert_eq!(files.load(whole.to_str().unwrap()).unwrap(), b"hello");
}

#[test]
fn no_path_leads_out() {
    let (around, files) = temp_files();
    let outside = around.path().join("outside.txt");
    for path in
        ["../outside.txt", "sub/../../outside.txt", outside.to_str().unwrap(), "/etc/passwd", "", ".", "sub/"]
    {
        assert!(matches!(files.load(path), Err(FilesError::Outside { .. })), "{path}");
        assert!(matches!(files.write(path, b"x"), Err(FilesError::Outside { .. })), "{path}");
        assert!(files.check_free(path).is_err(), "{path}");
    }
    assert_eq!(fs::read_to_string(outside).unwrap(), "not yours");
    // A name that is shown as another one.
    for path in ["a\u{202e}txt.exe", "a\nb.txt", "a\u{1b}[2K.txt", "a\u{200b}.txt"] {
        assert!(files.check_free(path).is_err(), "{path:?}");
    }
}

#[cfg(unix)]
#[test]
fn no_link_leads_out() {
    use std::os::unix::fs::symlink;
    let (around, files) = temp_files();
    let root = around.path().join("files");
    symlink("../outside.txt", root.join("link.txt")).unwrap();
    symlink(around.path(), root.join("up")).unwrap();
    symlink("../new.txt", root.join("dangling.txt")).unwrap();
    symlink("sub/a.txt", root.join("within.txt")).unwrap();
    for path in ["link.txt", "up/outside.txt"] {
        assert!(files.load(path).is_err(), "{path}");
    }
    for path in ["link.txt", "up/new.txt", "dangling.txt", "up/deep/new.txt"] {
        assert!(files.check_free(path).is_err(), "{path}");
        assert!(files.write(path, b"x").is_err(), "{path}");
    }
    assert!(!around.path().join("new.txt").exists() && !around.path().join("deep").exists());
    assert_eq!(fs::read_to_string(around.path().join("outside.txt")).unwrap(), "not yours");
    assert_eq!(files.load("within.txt").unwrap(), b"hello", "a link that stays is followed");
}

#[test]
fn nothing_is_written_over_and_another_name_is_offered() {
    let (around, files) = temp_files();
    files.write("deep/er/b.log", b"one").unwrap();
    assert_eq!(fs::read_to_string(around.path().join("files/deep/er/b.log")).unwrap(), "one");
    for taken in [files.write("deep/er/b.log", b"two"), files.check_free("deep/er/b.log")] {
        let Err(FilesError::Taken { other, .. }) = taken else { panic!("{taken:?}") };
        assert_eq!(other.as_deref(), Some("deep/er/b-2.log"));
    }
    assert_eq!(files.load("deep/er/b.log").unwrap(), b"one");
    assert!(files.check_free("deep/er/b-2.log").is_ok());
}

#[test]
fn what_is_no_file_or_too_large_is_said() {
    let (_around, files) = temp_files();
    assert!(matches!(files.load("sub"), Err(FilesError::NoFile { .. })));
    assert!(matches!(files.load("nowhere.txt"), Err(FilesError::Missing { .. })));
    files.write("large", &[0; 1_001]).unwrap();
    assert!(matches!(files.load("large"), Err(FilesError::TooLarge { most: 1_000, .. })));
}
