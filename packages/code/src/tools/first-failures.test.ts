import type { JsonValue } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createFirstFailures, type EndedCommand, errorSignatures } from "./first-failures.ts";

const FAILED = [
  "Blocking waiting for file lock",
  "running 214 tests",
  "test parser::reads_numbers ... FAILED",
  "thread 'parser::reads_numbers' panicked at src/parser.rs:88:9",
  "assertion `left == right` failed: number was cut",
  "error: could not compile `calc`",
  "Finished in 1.20s",
].join("\n");

/** A session: what it keeps, and the notes for commands one after the other. */
function session(name = "s") {
  const kept: { [name: string]: JsonValue } = {};
  let failures = createFirstFailures();
  return {
    kept,
    restart: () => void (failures = createFirstFailures()),
    end: (ended: Partial<EndedCommand>): readonly string[] =>
      failures.note(
        { session: name as never, kept: { ...kept }, keep: (key, value) => void (kept[key] = value) },
        { command: "cargo test", shown: "", isError: false, changesNothing: false, ...ended },
      ),
  };
}

describe("the first failure of a session", () => {
  it("is kept as its five most distinctive lines, and never replaced [TC-09] [TC-12]", () => {
    const { end, kept } = session();
    expect(end({ shown: FAILED, isError: true })).toEqual([]);
    const first = kept["firstFailure"] as { readonly command: string; readonly lines: readonly string[] };
    expect(first.command).toBe("cargo test");
    expect(first.lines).toHaveLength(5);
    expect(first.lines).toContain("thread 'parser::reads_numbers' panicked at src/parser.rs:#:#");
    end({ command: "make", shown: "another failure altogether\nwith other lines", isError: true });
    expect(kept["firstFailure"]).toEqual(first);
  });

  it("is that of the first of two commands that fail in one response", () => {
    const failures = createFirstFailures();
    const values: JsonValue[] = [];
    const call = { session: "s" as never, kept: {}, keep: (_name: string, value: JsonValue) => void values.push(value) };
    for (const command of ["first", "second"])
      failures.note(call, { command, shown: `${command} broke down`, isError: true, changesNothing: false });
    expect(values).toMatchObject([{ command: "first" }]);
  });

  it("gives a hint once three of the five lines are gone from a success, also after a resume [TC-10]", () => {
    const { end, restart } = session();
    end({ shown: FAILED, isError: true });
    expect(end({ shown: FAILED })).toEqual([]);
    restart();
    expect(end({ shown: "Blocking waiting for file lock\nrunning 214 tests\nFinished in 0.80s" })).toEqual([
      expect.stringMatching(/^\[[345] of the 5 most telling lines of the first failure, of `cargo test`, are not in this output\..*stop/),
    ]);
  });

  it("gives no hint while most of the lines are there, whatever their numbers, or for a command that only looks [TC-11]", () => {
    const { end } = session();
    end({ shown: FAILED, isError: true });
    expect(end({ shown: FAILED.replaceAll(/\d+/g, "7") })).toEqual([]);
    expect(end({ command: "ls", shown: "src", changesNothing: true })).toEqual([]);
    expect(end({ shown: "still broken", isError: true })).toEqual([]);
  });

  it("waits for a failure that prints anything", () => {
    const { end, kept } = session();
    end({ command: "test -f x", isError: true });
    expect(kept).toEqual({});
    end({ command: "make", shown: "one line of it", isError: true });
    expect(kept["firstFailure"]).toEqual({ command: "make", lines: ["one line of it"] });
    expect(end({ command: "make", shown: "built" })).toHaveLength(1);
  });
});

it("finds lines by the rarity of their words, without knowing any tool", () => {
  const noise = Array.from({ length: 500 }, (_, index) => `compiling module number ${index} of the project`);
  const found = errorSignatures([...noise, "segmentation violation inside frobnicator", ...noise].join("\n"));
  expect(found[0]).toBe("segmentation violation inside frobnicator");
  expect(errorSignatures("")).toEqual([]);
});
