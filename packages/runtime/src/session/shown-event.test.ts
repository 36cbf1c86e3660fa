import type { JsonObject } from "@keelson/protocol";
import { emittedEvent } from "../../../protocol/test/payload-arbitraries/event.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { problemOfEmitted, shownEvent } from "./shown-event.ts";

const emitting = (event: JsonObject) => ({ type: "directive", data: { directive: { type: "emit", event }, id: "e_1" } });

describe("a directive to emit", () => {
  it("is the event that it was given, for each of the types that programs may tell [DI-02]", () => {
    fc.assert(
      fc.property(
        emittedEvent.filter(({ type }) => (type as string) !== "other"),
        (event) => {
          const { type, ...data } = JSON.parse(JSON.stringify(event)) as JsonObject;
          expect(problemOfEmitted({ type: type as string, ...data })).toBeUndefined();
          expect(shownEvent(emitting({ ...data, type: type as string }))).toEqual({ type, data });
        },
      ),
    );
  });

  it.each([
    { type: "run-complete", reason: "complete", text: "all is well" },
    { type: "text-delta", text: "a" },
    { type: "status" },
    { type: "of-my-own" },
    { seen: 1 },
    {},
  ])("stays a directive in logs that hold what is no such event: %j", (event) => {
    const record = emitting(event as JsonObject);
    expect(shownEvent(record)).toEqual(record);
  });

  it("stays one where its data is kept elsewhere, and other records are what they are", () => {
    const large = { type: "directive", data: { "~blob": "sha256:1", "length": 70_000 } };
    expect(shownEvent(large)).toEqual(large);
    const stop = { type: "directive", data: { directive: { type: "stop" } } };
    expect(shownEvent(stop)).toEqual(stop);
    const message = { type: "message", data: { message: { role: "user", content: [] } } };
    expect(shownEvent(message)).toEqual(message);
  });
});
