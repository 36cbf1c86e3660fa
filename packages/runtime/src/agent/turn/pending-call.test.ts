import type { CallId, Tool, ToolCallPart } from "@keelson/protocol";
import { expect, it } from "vitest";
import { defineTool } from "../../tools/define-tool.ts";
import { Suspension } from "../../session/suspension.ts";
import { allow, arrivedCall, askAbout, endedCall, readyCall, refuse, settleCall, startCall, toolNameOf } from "./pending-call.ts";

const part: ToolCallPart = { type: "tool-call", id: "c" as CallId, name: "wirte", inputText: "{}", input: {} };
const tool = defineTool({ name: "write", description: "Writes.", input: { type: "object" }, execute: () => "written" }) as Tool;
const arrived = arrivedCall(part, "t1", 0);
const ready = readyCall(arrived, { tool, input: { n: 1 }, value: { n: 1 } });
const times = { startedAt: 10, endedAt: 15 };

it("a call that people were asked about and that may run is as it was before they were asked", () => {
  expect(allow(askAbout(ready, "a rule wants it", [{ scope: "tool", rules: ["write"] }]))).toEqual(ready);
});

it("a question behind another replaces what may be allowed for good", () => {
  const asked = askAbout(ready, "a rule wants it", [{ scope: "tool", rules: ["write"] }]);
  expect(askAbout(asked, "a hook wants it")).toEqual({ ...ready, state: "asking", reason: "a hook wants it", always: undefined });
});

it("arguments that were changed are others for the loop guard, and keep what else is known of the call", () => {
  const known = { ...ready, reads: ["a"], edits: 1, guarded: { input: ready.input, text: '{"n":1}' } };
  expect(readyCall(known, { tool, input: { n: 2 }, value: { n: 2 } })).toEqual({
    ...ready,
    reads: ["a"],
    edits: 1,
    input: { n: 2 },
    value: { n: 2 },
  });
});

it("a settled call keeps its tool and its arguments, where it had any: its record tells of them", () => {
  expect(refuse(arrived, "There is none.", "no-such-tool")).toEqual({
    state: "settled",
    part,
    key: "t1/call/c",
    index: 0,
    why: "no-such-tool",
    result: { output: "There is none.", isError: true },
  });
  expect(settleCall(ready, "ran", { output: "done", isError: false })).toMatchObject({ why: "ran", tool, input: { n: 1 } });
  expect([toolNameOf(arrived), toolNameOf(refuse(arrived, "")), toolNameOf(refuse(ready, ""))]).toEqual(["wirte", "wirte", "write"]);
});

it("an execution ends with a result, also where it threw, or waits", () => {
  const running = startCall(ready, 2);
  expect(endedCall(running, { ok: true, value: { output: "written", isError: false }, ...times })).toMatchObject({
    state: "executed",
    result: { output: "written", isError: false, durationMs: 5 },
  });
  const failure = { kind: "other", message: "the disk is full", retryable: false };
  expect(endedCall(running, { ok: false, failure, ...times })).toMatchObject({
    state: "executed",
    result: { output: "the disk is full", isError: true, durationMs: 5 },
  });
  const suspended = new Suspension("awaiting-signal", []);
  expect(endedCall(running, { ok: true, value: { suspended }, ...times })).toMatchObject({ state: "waiting", suspension: suspended });
});
