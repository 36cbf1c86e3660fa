import type { JsonObject, LogRecord, RunId, SessionId } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { applyRecord } from "./apply-record.ts";
import { emptySession, type SessionState } from "./session-state.ts";

function folded(...records: readonly { readonly type: string; readonly data: JsonObject }[]): SessionState {
  const state = emptySession("s" as SessionId);
  for (const [index, { type, data }] of records.entries()) {
    const record: LogRecord = { type, data, key: `r/${index}`, seq: index + 1, at: 10 + index };
    applyRecord(state, record);
  }
  return state;
}

const START = { type: "run-start", data: { session: "s", agent: "clerk", definition: "d", model: "m" } };

describe("applyRecord", () => {
  it("skips a record of a type that it doesn't know, and still counts it and finds it under its key", () => {
    const state = folded(START, { type: "of-a-later-version", data: { turn: 7 } });
    expect(state).toMatchObject({ seq: 2, at: 11, run: { id: "r" as RunId, turn: 0 } });
    expect(state.run?.open.get("r/1")).toMatchObject({ type: "of-a-later-version", data: { turn: 7 } });
  });

  it.each(["__proto__", "constructor", "toString"])("skips one whose type is what every object has: %s", (type) => {
    expect(folded(START, { type, data: {} })).toMatchObject({ seq: 2 });
  });
});
