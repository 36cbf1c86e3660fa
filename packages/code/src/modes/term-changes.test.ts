import type { EffortLevel } from "@keelson/protocol";
import type { Run } from "keelson";
import { describe, expect, it } from "vitest";
import type { RunTerms } from "../core/run-terms.ts";
import { createTermChanges } from "./term-changes.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

function open({
  run,
  hasStatusLine = true,
  refuse,
  own,
}: { readonly run?: object; readonly hasStatusLine?: boolean; readonly refuse?: string; readonly own?: EffortLevel } = {}) {
  let terms: RunTerms = { model: "a/one", mode: "default", effort: own };
  const said: string[] = [];
  const failures: string[] = [];
  const changes = createTermChanges({
    slot: {
      run: run as Run | undefined,
      withRun(act) {
        if (run !== undefined) act(run as Run);
        return run !== undefined;
      },
    },
    terms: () => terms,
    effortsOf: (model) => (model === "b/none" ? [] : ["low", "max"]),
    change(changed) {
      if (refuse !== undefined) throw new Error(refuse);
      const { effort = own } = "effort" in changed ? changed : terms;
      terms = { ...terms, ...changed, effort };
    },
    say: (line) => void said.push(line),
    warn: (line) => void said.push(`! ${line}`),
    failed: (error) => void failures.push((error as Error).message),
    hasStatusLine,
  });
  return { changes, terms: () => terms, said, failures };
}

describe("createTermChanges", () => {
  it("changes the terms of later runs while none is under way, and says so", () => {
    const { changes, terms, said } = open();
    changes.model("b/two");
    changes.mode("accept-edits");
    changes.effort("max");
    expect(terms()).toEqual({ model: "b/two", mode: "accept-edits", effort: "max" });
    expect(said).toEqual(["model: b/two", "mode: accept-edits (edits of files in the project run, too)", "effort: max"]);
    changes.effort(undefined);
    expect([terms().effort, said.at(-1)]).toEqual([undefined, "effort: default"]);
  });

  it("takes back an effort that the next model does not take, and says so", () => {
    const { changes, terms, said } = open();
    changes.effort("max");
    changes.model("b/two");
    expect([terms().effort, said.at(-1)]).toEqual(["max", "model: b/two"]);
    changes.model("b/none");
    expect([terms().effort, said.at(-1)]).toEqual([undefined, "b/none does not support the effort max; the default is used again"]);
  });

  it("warns of a model that does not take the effort with which the session was started", () => {
    const { changes, said } = open({ own: "low" });
    changes.model("b/none");
    expect(said.at(-1)).toBe("! this session was started with the effort low, which b/none does not support: choose another model");
  });

  it("changes the run under way first, and the terms once the run has accepted it", async () => {
    const did: unknown[] = [];
    const run = {
      setPermissionMode: async (mode: string) => void did.push(mode),
      setEffort: async (level: string | null) => void did.push(level),
    };
    const { changes, terms, said } = open({ run });
    changes.mode("plan-only");
    changes.effort(undefined);
    expect(terms().mode).toBe("default");
    await settle();
    expect([did, terms().mode, said]).toEqual([["plan-only", null], "plan-only", []]);
  });

  it("keeps the terms if the run refuses them", async () => {
    const refusing = open({ run: { setPermissionMode: () => Promise.reject(new Error("it is over")), setEffort: async () => {} } });
    refusing.changes.mode("plan-only");
    await settle();
    expect([refusing.terms().mode, refusing.failures]).toEqual(["default", ["it is over"]]);
  });

  it("goes on from the mode that was asked for last if the key is pressed again before the run has accepted it", async () => {
    const did: string[] = [];
    const { changes, terms } = open({ run: { setPermissionMode: async (mode: string) => void did.push(mode), setEffort: async () => {} } });
    changes.cycleMode();
    changes.cycleMode();
    changes.cycleMode();
    await settle();
    expect([did, terms().mode]).toEqual([["accept-edits", "plan-only", "default"], "default"]);
  });

  it("says the mode that the key chose where no status line shows it", () => {
    const silent = open();
    silent.changes.cycleMode();
    expect([silent.terms().mode, silent.said]).toEqual(["accept-edits", []]);
    const spoken = open({ hasStatusLine: false });
    spoken.changes.cycleMode();
    expect(spoken.said).toEqual([expect.stringContaining("mode: accept-edits")]);
  });

  it("shows why terms are impossible, and says nothing else", () => {
    const { changes, said, failures } = open({ refuse: "there is no provider c" });
    changes.model("c/three");
    expect([said, failures]).toEqual([[], ["there is no provider c"]]);
  });
});
