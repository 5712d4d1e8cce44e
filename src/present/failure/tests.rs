use super::*;

/// A log as a runner writes one, around the output of a script.
fn runner(script: &str) -> String {
    format!(
        "\u{1b}[0KRunning with gitlab-runner 18.2.0\n\
         section_start:1700000000:prepare_executor\r\u{1b}[0K\u{1b}[36;1mPreparing\u{1b}[0;m\n\
         Using Docker executor, pull policy if-not-present\nsection_end:1700000001:prepare_executor\r\u{1b}[0K\n\
         section_start:1700000001:get_sources\r\u{1b}[0KFetching changes\nwarning: redirecting, error is unlikely\n\
         section_end:1700000002:get_sources\r\u{1b}[0K\n\
         section_start:1700000002:step_script\r\u{1b}[0K{script}section_end:1700000060:step_script\r\u{1b}[0K\n\
         section_start:1700000060:cleanup_file_variables\r\u{1b}[0KCleaning up project directory and file based variables\n\
         section_end:1700000061:cleanup_file_variables\r\u{1b}[0K\u{1b}[31;1mERROR: Job failed: exit code 1\u{1b}[0;m\n"
    )
}

/// The line that reports the failure.
fn find_failure(log: &str) -> String {
    let failure = failure(log, 4_000, Secrets::NONE);
    let line = failure.line.expect("a line that tells");
    plain_log(log).lines().nth(line - 1).unwrap().trim().to_owned()
}

#[test]
fn the_first_error_of_each_language_is_found() {
    let cases = [
        (
            "cargo",
            "$ cargo test\n   Compiling thiserror v2.0.0\nwarning: unused variable: `error`\nerror[E0308]: mismatched types\n  --> src/main.rs:3:5\nerror: could not compile `widget`\n",
            "error[E0308]: mismatched types",
        ),
        (
            "rust test",
            "running 2 tests\ntest errors::are_told ... ok\ntest spring::holds ... \u{1b}[31mFAILED\u{1b}[0m\n\nthread 'spring::holds' panicked at tests/spring.rs:3\nerror: test failed\n",
            "test spring::holds ... FAILED",
        ),
        (
            "pytest",
            "collected 3 items\ntests/test_errors.py::test_ok PASSED [ 33%]\ntests/test_api.py::test_login FAILED [ 66%]\nE   assert 401 == 200\n",
            "tests/test_api.py::test_login FAILED [ 66%]",
        ),
        (
            "python",
            "Collecting errors-tools\nTraceback (most recent call last):\n  File \"a.py\", line 1\nValueError: no\n",
            "Traceback (most recent call last):",
        ),
        (
            "jest",
            "PASS src/error.test.js\nFAIL src/cart.test.js\n  ● cart › adds\n    expect(received).toBe(expected)\n",
            "FAIL src/cart.test.js",
        ),
        (
            "npm",
            "npm WARN deprecated error-ex@1.0.0\nnpm ERR! code ELIFECYCLE\nnpm ERR! errno 1\n",
            "npm ERR! code ELIFECYCLE",
        ),
        (
            "typescript",
            "$ tsc --noEmit\nsrc/api.ts(14,7): error TS2322: Type 'string' is not assignable to type 'number'.\n",
            "src/api.ts(14,7): error TS2322: Type 'string' is not assignable to type 'number'.",
        ),
        (
            "go",
            "ok  \texample.com/errors\t0.01s\n--- FAIL: TestSum (0.00s)\n    sum_test.go:9: got 3\nFAIL\n",
            "--- FAIL: TestSum (0.00s)",
        ),
        (
            "maven",
            "[INFO] Tests run: 4, Failures: 0, Errors: 0\n[ERROR] Failed to execute goal compile: Compilation failure\n[INFO] BUILD FAILURE\n",
            "[ERROR] Failed to execute goal compile: Compilation failure",
        ),
        (
            "gradle",
            "> Task :compileJava\nFAILURE: Build failed with an exception.\n* What went wrong:\n",
            "FAILURE: Build failed with an exception.",
        ),
        (
            "c",
            "cc -Werror -c main.c\nmain.c:3:5: error: expected ';' before 'return'\nmake: *** [Makefile:2: main.o] Error 1\n",
            "main.c:3:5: error: expected ';' before 'return'",
        ),
        (
            "shell",
            "$ deploy --on-error=stop\n/bin/sh: line 12: deploy: command not found\n",
            "/bin/sh: line 12: deploy: command not found",
        ),
        ("terraform", "Plan: 1 to add\n╷\n│ Error: Invalid provider\n│\n", "│ Error: Invalid provider"),
        (
            "mention",
            "checked 12 files, 0 errors\nthe deployment failed because of a quota\n",
            "the deployment failed because of a quota",
        ),
    ];
    for (what, script, expected) in cases {
        assert_eq!(find_failure(&runner(script)), expected, "{what}");
    }
}

#[test]
fn where_nothing_tells_the_runners_last_word_and_the_end_are_shown() {
    let log = runner("$ ./quiet\n0 errors, 0 failed\nerrors: 0\n");
    assert_eq!(find_failure(&log), "ERROR: Job failed: exit code 1");
    let silent = failure("one\ntwo\n", 1_000, Secrets::NONE);
    assert_eq!((silent.line, silent.total_lines), (None, 2));
    assert_eq!(silent.stretches[0].text, "one\ntwo\n");
    assert_eq!(failure("", 1_000, Secrets::NONE), ReportedFailure::default());
}

#[test]
fn a_runner_that_fails_before_the_script_is_told_from_the_whole_log() {
    let log = "section_start:1700000000:prepare_executor\r\u{1b}[0KPreparing\nERROR: Failed to pull image \"nope\": not found\n\
               section_end:1700000001:prepare_executor\r\u{1b}[0KERROR: Job failed (runner system failure)\n";
    assert_eq!(find_failure(log), "ERROR: Failed to pull image \"nope\": not found");
}

#[test]
fn the_error_and_the_end_are_shown_within_the_budget_and_what_is_between_is_not() {
    let noise: String = (1..=2_000).map(|n| format!("test number_{n} ... ok\n")).collect();
    let log = runner(&format!(
        "{noise}test spring ... FAILED\n{noise}test result: FAILED. 4000 passed; 1 failed\n"
    ));
    let failure = failure(&log, 1_500, Secrets::NONE);
    let line = failure.line.unwrap();
    let [around, end] = failure.stretches.as_slice() else { panic!("{failure:?}") };
    assert_eq!(around.lines.0, line - BEFORE);
    assert!(around.text.contains("test spring ... FAILED") && around.lines.1 < end.lines.0);
    assert!(end.text.contains("test result: FAILED") && end.text.contains("exit code 1"));
    assert_eq!(end.lines.1, failure.total_lines);
    assert!(around.text.len() + end.text.len() <= 1_500);
    assert_eq!(around.text.lines().count(), around.lines.1 - around.lines.0 + 1);
}

#[test]
fn what_succeeded_before_the_error_is_not_shown_where_there_is_room() {
    let noise: String = (1..=100).map(|n| format!("test number_{n} ... ok\n")).collect();
    let failure =
        failure(&runner(&format!("{noise}test spring ... FAILED\nleft: 4\n")), 10_000, Secrets::NONE);
    let [shown] = failure.stretches.as_slice() else { panic!("{failure:?}") };
    assert_eq!(shown.lines, (failure.line.unwrap() - BEFORE, failure.total_lines));
    assert!(shown.text.contains("left: 4") && !shown.text.contains("number_90 "), "{}", shown.text);
}

#[test]
fn lines_before_the_error_leave_room_for_it() {
    let noise: String = (1..=100).map(|n| format!("test number_{n} ... ok\n")).collect();
    let failure = failure(&runner(&format!("{noise}test spring ... FAILED\nleft: 4\n")), 200, Secrets::NONE);
    assert!(failure.stretches[0].text.contains("test spring ... FAILED"), "{failure:?}");
}

#[test]
fn where_no_line_gives_the_reason_the_end_is_shown() {
    let steps: String = (1..=1_000).map(|n| format!("step {n}\n")).collect();
    let failure = failure(&runner(&steps), 10_000, Secrets::NONE);
    let [end] = failure.stretches.as_slice() else { panic!("{failure:?}") };
    assert!(end.text.contains("step 900\n") && end.text.len() <= ENDING, "{} bytes", end.text.len());
}

#[test]
fn an_error_near_the_end_is_one_stretch() {
    let noise: String = (1..=2_000).map(|n| format!("step {n}\n")).collect();
    let failure = failure(&runner(&format!("{noise}fatal: no such ref\n")), 1_000, Secrets::NONE);
    assert_eq!(failure.stretches.len(), 1);
    assert!(failure.stretches[0].text.contains("fatal: no such ref"));
}
