import type { CallId, JsonObject, Message, StopReason } from "@keelson/protocol";
import { describe, expectTypeOf, it } from "vitest";
import type { Execution } from "./execution.ts";
import type { Journal } from "./journal.ts";
import type { RecordData, RecordOf, RecordType } from "./record-data.ts";

declare const journal: Journal;
declare const execution: Execution;
declare const message: Message;

describe("what a record holds", () => {
  it("is JSON, whatever its type", () => {
    expectTypeOf<RecordData[RecordType]>().toExtend<JsonObject>();
  });

  it("is held against its type where it is written", () => {
    journal.put("r/input", "message", { message });
    execution.put("t1/call/c/not-done/1", "tool-not-done", { callId: "c" as CallId });
    // @ts-expect-error: a message is needed
    journal.put("r/input", "message", { text: "hello" });
    // @ts-expect-error: such a record has no name
    execution.put("t1/call/c/not-done/1", "tool-not-done", { callId: "c" as CallId, name: "read" });
    // @ts-expect-error: there is no such type
    execution.put("k", "massage", { message });
  });

  it("is known by its type where it is looked up", () => {
    expectTypeOf(execution.lookup("t1/infer/0/answer", "answer")?.data.stopReason).toEqualTypeOf<StopReason | undefined>();
    expectTypeOf(execution.lookup("k", "directive", "effect")).toEqualTypeOf<RecordOf<"directive" | "effect"> | undefined>();
    // @ts-expect-error: whoever only asks whether there is one uses `has`
    execution.lookup("t1/infer/0/answer");
  });
});
