//! `wait` on pipelines and jobs: the call answers when the state has ended, or with the state as it is.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, execute, refused, succeed, wait_until};
use crate::support::scripted_gitlab::{Answer, Gitlab, answer};

const PIPELINE: &str = "GET /api/v4/projects/acme%2Fwidget/pipelines/7";

fn state(status: &str) -> Answer {
    answer(200, json!({"id": 7, "iid": 1, "ref": "main", "status": status}))
}

fn gitlab(states: &[&str]) -> Gitlab {
    let gitlab = Gitlab::with_project();
    gitlab.says(PIPELINE, states.iter().map(|status| state(status)));
    gitlab.json("/pipelines/7/jobs", &json!([]));
    gitlab
}

fn reads(gitlab: &Gitlab) -> usize {
    gitlab.seen().iter().filter(|line| *line == PIPELINE).count()
}

fn pipeline(more: Value) -> Value {
    let mut params = json!({"fullPath": "acme/widget", "pipeline_id": 7});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

#[test]
fn a_wait_ends_with_the_state() {
    let gitlab = gitlab(&["running", "running", "success"]);
    let mut client = gitlab.client(&[]);
    let reply = execute(&mut client, "pipeline.get", pipeline(json!({"wait": 60})));
    assert_eq!(reply.structured["data"]["status"], "success", "{}", reply.text);
    assert!(reply.text.contains("it is \"success\""), "{}", reply.text);
    assert_eq!(reads(&gitlab), 3);
    assert!(gitlab.seen().iter().all(|line| !line.contains("wait")), "{:?}", gitlab.seen());
}

#[test]
fn a_state_that_has_ended_is_not_waited_for() {
    let gitlab = gitlab(&["manual"]);
    let mut client = gitlab.client(&[]);
    let reply = execute(&mut client, "pipeline.get", pipeline(json!({"wait": 600})));
    assert_eq!(reply.structured["data"]["status"], "manual");
    assert_eq!(reads(&gitlab), 1);
}

#[test]
fn a_wait_may_be_for_a_state_before_the_end() {
    let gitlab = gitlab(&["pending", "running", "success"]);
    let mut client = gitlab.client(&[]);
    let reply = execute(&mut client, "pipeline.get", pipeline(json!({"wait": 60, "wait_for": "running"})));
    assert_eq!(reply.structured["data"]["status"], "running");
    // A state that is over before it is seen does not keep the call waiting.
    gitlab.says(PIPELINE, [state("pending"), state("failed")]);
    let reply = execute(&mut client, "pipeline.get", pipeline(json!({"wait": 60, "wait_for": "running"})));
    assert_eq!(reply.structured["data"]["status"], "failed");
    assert!(reply.text.contains("it ended as \"failed\" and was not seen as \"running\""), "{}", reply.text);
}

#[test]
fn a_wait_whose_time_is_over_answers_with_the_state_and_the_call_that_goes_on() {
    let gitlab = gitlab(&["running"]);
    let mut client = gitlab.client(&[]);
    let reply = execute(&mut client, "pipeline.get", pipeline(json!({"wait": 1})));
    assert_eq!(reply.structured["data"]["status"], "running");
    let note = reply.structured["notes"][0].as_str().unwrap();
    let (said, call) = note.split_once("to wait on: ").unwrap();
    assert!(said.contains("it is still \"running\""), "{note}");
    let call: Value = serde_json::from_str(call).unwrap();
    assert_eq!(call, json!({"action": "pipeline.get", "params": pipeline(json!({"wait": 1}))}));
    gitlab.says(PIPELINE, [state("success")]);
    let reply = client.call(EXECUTE, call);
    assert_eq!(reply.structured["data"]["status"], "success");
}

/// The answer of a change has the state of before.
#[test]
fn a_change_is_made_once_and_then_waited_for() {
    let gitlab = gitlab(&["running", "success"]);
    gitlab.answer("POST", "/pipelines/7/retry", answer(201, json!({"id": 7, "status": "failed"})));
    gitlab.answer("POST", "/pipeline", answer(201, json!({"id": 7, "status": "created"})));
    let mut client = gitlab.client(&[]);
    let reply = execute(&mut client, "pipeline.retry", pipeline(json!({"wait": 60})));
    assert_eq!(reply.structured["data"]["status"], "success", "{}", reply.text);
    // A new pipeline is the one of the answer.
    gitlab.says(PIPELINE, [state("running"), state("failed")]);
    let params = json!({"fullPath": "acme/widget", "ref": "main", "wait": 60});
    assert_eq!(succeed(&mut client, "pipeline.create", params)["data"]["status"], "failed");
    let posts = gitlab.seen().into_iter().filter(|line| line.starts_with("POST"));
    assert_eq!(posts.count(), 2);
}

#[test]
fn reads_that_fail_while_waiting_do_not_fail_the_call() {
    let gitlab = gitlab(&["running"]);
    gitlab.says(
        PIPELINE,
        [state("running"), answer(404, json!({"message": "404 Not found"})), state("success")],
    );
    let mut client = gitlab.client(&[]);
    let reply = execute(&mut client, "pipeline.get", pipeline(json!({"wait": 60})));
    assert_eq!(reply.structured["data"]["status"], "success", "{}", reply.text);
    // Only those in a row end the wait.
    let lost = || answer(404, json!({"message": "404 Not found"}));
    gitlab.says(PIPELINE, [state("running"), lost(), lost(), state("running"), lost(), state("success")]);
    let reply = execute(&mut client, "pipeline.get", pipeline(json!({"wait": 600})));
    assert_eq!(reply.structured["data"]["status"], "success", "{}", reply.text);
    gitlab.says(PIPELINE, [state("running"), answer(404, json!({"message": "404 Not found"}))]);
    let reply = execute(&mut client, "pipeline.get", pipeline(json!({"wait": 600})));
    assert_eq!(reply.structured["data"]["status"], "running");
    assert!(reply.text.contains("the wait ended early: pipeline.get failed"), "{}", reply.text);
}

#[test]
fn what_does_not_fit_is_refused_before_the_call() {
    let mut client = Client::sandbox();
    for more in [json!({"wait_for": "success"}), json!({"wait": -1}), json!({"wait": "soon"})] {
        refused(&execute(&mut client, "pipeline.get", pipeline(more)), "invalid_params");
    }
}

#[test]
fn a_client_that_asks_for_progress_is_told_the_state() {
    let gitlab = gitlab(&["running", "success"]);
    let mut client = gitlab.client(&[]);
    let params = json!({"action": "pipeline.get", "params": pipeline(json!({"wait": 60}))});
    let call = json!({"name": EXECUTE, "arguments": params, "_meta": {"progressToken": "mine"}});
    client.send(&json!({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": call}));
    let progress = client.receive();
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    assert_eq!(progress["params"]["message"], "running, waiting for 0 s");
    let answer = client.receive();
    assert_eq!(answer["id"], 99, "{answer}");
}

#[test]
fn a_wait_that_is_cancelled_reads_no_more() {
    let gitlab = gitlab(&["running"]);
    let mut client = gitlab.client(&[]);
    let params = json!({"action": "pipeline.get", "params": pipeline(json!({"wait": 600}))});
    let call = json!({"name": EXECUTE, "arguments": params});
    client.send(&json!({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": call}));
    wait_until("the second read", || reads(&gitlab) == 2);
    let cancelled = json!({"requestId": 99, "reason": "enough"});
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}));
    client.assert_unanswered();
    // Others are served, and the next answer is not the one of the wait.
    gitlab.says(PIPELINE, [state("success")]);
    assert_eq!(succeed(&mut client, "pipeline.get", pipeline(json!({})))["data"]["status"], "success");
}
