import { inboxLog, type JsonValue, type LogRecord, type SessionId, sessionLog, type EventLog } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { openDeciding } from "./deciding-scenario.ts";
import { finish } from "./finish.ts";
import { faultsOf } from "./normalised-log.ts";
import { createPoints } from "./points.ts";
import { inParallel, liveInProcess, lostRecords, withFolder } from "./scenario-child.ts";
import { openFolder } from "./scenario-folder.ts";
import { SESSION } from "./scenario.ts";
import type { SideEffects } from "./side-effects.ts";
import { simulateLives } from "./simulated-lives.ts";
import { sample } from "./sample.ts";

/** The decisions that the log holds, by callback. An approval is decided where it stands in the inbox. */
async function committed(log: EventLog): Promise<ReadonlyMap<string, readonly JsonValue[]>> {
  const found = new Map<string, JsonValue[]>();
  const add = (callback: string, value: JsonValue): void => void found.set(callback, [...(found.get(callback) ?? []), value]);
  for await (const { type, key, data } of log.read(sessionLog(SESSION as SessionId))) {
    if (type === "decision") add(callbackOf(key), data["value"] ?? null);
  }
  for await (const { type, data } of log.read(inboxLog(SESSION as SessionId)))
    if (type === "decision") add("approval", data["decision"] ?? null);
  return found;
}

function callbackOf(key: string): string {
  if (key.endsWith("/on-model-error")) return "on-model-error";
  if (key.endsWith("/instructions/decision")) return "instructions";
  return key.endsWith("/remind") ? "remind-when" : "stamp";
}

const CALLBACKS = ["instructions", "stamp", "remind-when", "on-model-error", "approval"];

function calls(effects: SideEffects): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { tool } of effects.read()) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  return counts;
}

/** What the log says came of the decisions, against the decisions themselves. */
async function branchFaults(log: EventLog): Promise<readonly string[]> {
  const faults: string[] = [];
  const records: LogRecord[] = [];
  for await (const record of log.read(sessionLog(SESSION as SessionId))) records.push(record);
  const decided = await committed(log);
  const valueAt = (suffix: RegExp): JsonValue | undefined =>
    records.find(({ type, key }) => type === "decision" && suffix.test(key))?.data["value"];

  for (const { data } of records.filter(({ type, data: { name } }) => type === "tool-result" && name === "note")) {
    const stamped = valueAt(new RegExp(`/call/${String(data["callId"])}/rule/before/stamp$`)) as
      | { readonly input: { readonly input: JsonValue } }
      | undefined;
    if (data["output"] !== JSON.stringify(stamped?.input.input))
      faults.push(`note answered ${JSON.stringify(data["output"])}, and the rule had decided ${JSON.stringify(stamped)}`);
  }
  const [allowed] = decided.get("approval") ?? [];
  const paid = records.find(({ type, data }) => type === "tool-result" && data["name"] === "pay")?.data["output"];
  if (paid !== JSON.stringify((allowed as { readonly input: JsonValue } | undefined)?.input))
    faults.push(`pay answered ${JSON.stringify(paid)}, and the person had decided ${JSON.stringify(allowed)}`);

  const action = (decided.get("on-model-error") ?? [])[0] as { readonly type: string } | undefined;
  const switched = records.some(({ type }) => type === "model-switch");
  if (switched !== (action?.type === "switch-model"))
    faults.push(`after ${JSON.stringify(action)} the model was ${switched ? "" : "not "}switched`);
  const instructions = records.filter(({ type }) => type === "instructions").map(({ data }) => data["text"]);
  if (JSON.stringify(instructions) !== JSON.stringify(decided.get("instructions")))
    faults.push(`the instructions are ${JSON.stringify(instructions)}`);
  const reminders = records.filter(
    ({ type, data }) => type === "message" && (data["message"] as { readonly role?: string }).role === "system",
  );
  if (new Set(reminders.map(({ key }) => key)).size !== reminders.length) faults.push("a reminder stands twice");
  return faults;
}

/** In one life of a session, what was decided anew against what was asked. */
async function watchLife(
  log: EventLog,
  effects: SideEffects,
  live: () => Promise<{ readonly over: boolean }>,
  place: string,
): Promise<readonly string[]> {
  const before = { committed: await committed(log), calls: calls(effects) };
  const { over } = await live();
  const faults: string[] = [];
  const after = { committed: await committed(log), calls: calls(effects) };
  for (const callback of CALLBACKS) {
    const earlier = before.committed.get(callback) ?? [];
    const now = after.committed.get(callback) ?? [];
    const asked = (after.calls.get(callback) ?? 0) - (before.calls.get(callback) ?? 0);
    const decided = now.length - earlier.length;
    if (JSON.stringify(now.slice(0, earlier.length)) !== JSON.stringify(earlier))
      faults.push(`${place}: what ${callback} had decided changed`);
    // A verdict that was not committed when the process ended is void, and the callback is asked again.
    if (over ? asked !== decided : asked < decided) faults.push(`${place}: ${callback} was asked ${asked} times for ${decided} decisions`);
  }
  return faults;
}

async function undisturbed(): Promise<readonly string[]> {
  const lives = simulateLives({ open: openDeciding });
  const { passed, finished } = await lives.live();
  if (finished?.outcome.reason !== "complete")
    throw new Error(`it ended with ${finished?.outcome.reason}: ${finished?.outcome.error?.message}`);
  return passed;
}
const places = await undisturbed();

describe("a rule, onModelError, instructions and an approvals callback that read the clock and count their calls", () => {
  it("are asked in the run that proves it, each of them, at places where it can be killed", async () => {
    const lives = simulateLives({ open: openDeciding });
    await lives.live();
    const decided = await committed(lives.log);
    for (const callback of CALLBACKS) expect(decided.get(callback)?.length ?? 0, callback).toBeGreaterThan(0);
    expect(await branchFaults(lives.log)).toEqual([]);
    for (const callback of ["instructions", "stamp", "remind", "on-model-error", "approval"])
      expect(places).toContain(`${callback}/after#0`);
  });

  it("decide each thing once, and the run keeps to the branch they took, wherever it stops and goes on", { timeout: 60_000 }, async () => {
    const faults: string[] = [];
    for (const place of places) {
      const lives = simulateLives({ open: openDeciding });
      let over = "";
      const live = async (until?: string): Promise<{ readonly over: boolean }> => {
        const { finished } = await lives.live(until);
        if (finished) over = finished.outcome.reason;
        return { over: finished !== undefined };
      };
      faults.push(...(await watchLife(lives.log, lives.effects, () => live(place), place)));
      faults.push(...(await watchLife(lives.log, lives.effects, () => live(), `after ${place}`)));
      for (const fault of [...(await branchFaults(lives.log)), ...(await faultsOf(lives.log, SESSION))]) faults.push(`${place}: ${fault}`);
      if (over !== "complete") faults.push(`${place}: it ended with ${over}`);
    }
    expect(faults).toEqual([]);
  });

  it("decide each thing once where the process is killed", { timeout: 600_000 }, async () => {
    const chosen = sample(
      places,
      sampleSize("places at which a deciding process is killed", { test: 8, ci: places.length, soak: places.length }),
    );
    const faults: string[] = [];
    await inParallel(chosen, (place) =>
      withFolder(async (folder) => {
        await using scenario = openFolder(folder, { points: createPoints(), open: openDeciding });
        const killed = async (): Promise<{ readonly over: boolean }> => {
          const { printed, exit } = await liveInProcess(folder, { place, scenario: "deciding" });
          if (exit !== "SIGKILL") faults.push(`${place}: the process ended with ${exit}`);
          for (const lost of await lostRecords(scenario.log, printed)) faults.push(`${place}: ${JSON.stringify(lost)} is lost`);
          return { over: false };
        };
        const finished = async (): Promise<{ readonly over: boolean }> => {
          const { outcome } = await finish(scenario.runner, scenario.log, scenario.effects);
          if (outcome.reason !== "complete") faults.push(`${place}: it ended with ${outcome.reason}: ${outcome.error?.message}`);
          return { over: true };
        };
        faults.push(...(await watchLife(scenario.log, scenario.effects, killed, place)));
        faults.push(...(await watchLife(scenario.log, scenario.effects, finished, `after ${place}`)));
        for (const fault of [...(await branchFaults(scenario.log)), ...(await faultsOf(scenario.log, SESSION))])
          faults.push(`${place}: ${fault}`);
      }),
    );
    expect(faults, `seed ${seed}`).toEqual([]);
  });
});
