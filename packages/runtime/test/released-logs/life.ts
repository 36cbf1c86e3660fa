import type { BudgetLedger, EventLog, JsonValue, Tool } from "@keelson/protocol";
import type { Agent, Run, RunnerOptions, RunOutcome, SingleRunner } from "../../src/index.ts";
import type { Clock } from "../../src/platform/clock.ts";
import type { ScriptedModelOptions, ScriptedModel, ScriptedTurn } from "../../src/testing/scripted-model.ts";
import type { Release } from "./release.ts";

/** When the first lives are lived. */
export const BEGINNING: number = Date.UTC(2026, 10, 20, 8);
/** When others find what they left: all leases are over, and no token is. */
export const AFTERWARDS: number = BEGINNING + 3_600_000;

export type LifeClock = Clock & { advance(ms: number): void };

export interface LifeOptions {
  readonly release: Release;
  readonly log: EventLog;
  readonly ledger: BudgetLedger;
  /** Whether it ends where its scenario says so. */
  readonly dies: boolean;
  readonly clock: LifeClock;
  readonly owner: string;
}

/** What one process does with the stores of a scenario. */
export class Life {
  readonly release: Release;
  readonly log: EventLog;
  readonly ledger: BudgetLedger;
  readonly clock: LifeClock;
  /** What tools and executors did, in order. */
  readonly done: string[] = [];
  /** Which models were asked, in order. */
  readonly asked: string[] = [];
  /** Where it ended. */
  readonly death: Promise<void>;
  readonly #dies: boolean;
  readonly #owner: string;
  #die: () => void = () => {};
  #ids = 0;

  constructor(options: LifeOptions) {
    this.release = options.release;
    this.log = options.log;
    this.ledger = options.ledger;
    this.clock = options.clock;
    this.#dies = options.dies;
    this.#owner = options.owner;
    this.death = new Promise((resolve) => (this.#die = resolve));
  }

  /** The first life goes no further than this; others pass. */
  async end(): Promise<void> {
    if (!this.#dies) return;
    this.#die();
    await new Promise(() => {});
  }

  runner<Out>(agent: Agent<Out>, options: RunnerOptions = {}): SingleRunner<Out> {
    return this.release.root.createRunner({ ...this.#runnerOptions(), ...options, agent });
  }

  /** One of several agents; the first is the one that is run. */
  team(agents: readonly Agent[], options: RunnerOptions = {}): SingleRunner {
    const [first] = agents;
    const byName = Object.fromEntries(agents.map((agent) => [agent.name, agent]));
    const runner = this.release.root.createRunner({ ...this.#runnerOptions(), ...options, agents: byName });
    const run: SingleRunner["run"] = (input, runOptions = {}) => runner.run(input, { ...runOptions, agent: first?.name ?? "" }) as Run;
    return Object.assign(Object.create(runner) as SingleRunner, { run });
  }

  /** Answers by how many answers stand in the conversation, so that it goes on where an earlier life stopped. */
  model(responses: readonly ScriptedTurn[], options: ScriptedModelOptions = {}): ScriptedModel {
    const turn: ScriptedTurn = (request, call) => {
      this.asked.push(options.name ?? "a model");
      const response = responses[request.messages.filter(({ role }) => role === "assistant").length] ?? "There is nothing left to say.";
      return typeof response === "function" ? response(request, call) : response;
    };
    return this.release.testing.scriptedModel(
      Array.from({ length: 40 }, () => turn),
      options,
    );
  }

  /** A tool that notes what it did. */
  tool(
    name: string,
    effect: "read" | "idempotent" | "write",
    options: { readonly risk?: Tool["risk"]; readonly execute?: (input: JsonValue) => Promise<string> | string } = {},
  ): Tool {
    return this.release.root.defineTool({
      name,
      description: `Does ${name}.`,
      effect,
      input: { type: "object" },
      ...(options.risk && { risk: options.risk }),
      execute: async (input) => {
        this.done.push(`${name} ${JSON.stringify(input)}`);
        return (await options.execute?.(input as JsonValue)) ?? `${name} is done`;
      },
    }) as Tool;
  }

  /** Works until the run is over or waits, or until this life ends. */
  async live(run: Run<unknown>): Promise<RunOutcome<unknown> | undefined> {
    return Promise.race([run.outcome, this.death.then(() => undefined)]);
  }

  #runnerOptions(): RunnerOptions {
    return {
      log: this.log,
      ledger: this.ledger,
      clock: this.clock,
      owner: this.#owner,
      random: () => 0.5,
      newId: () => `${this.#owner}-${++this.#ids}`,
      approvalKeys: { current: { id: "released", secret: new Uint8Array(32).fill(7) } },
    };
  }
}

/** Moves when it is told to, or when somebody waits for what must come. */
export function steadyClock(start: number): LifeClock {
  let now = start;
  return {
    now: () => now,
    advance: (ms) => void (now += ms),
    after(ms, run, options) {
      if (options?.keepAlive === false) return () => {};
      let cancelled = false;
      queueMicrotask(() => {
        if (cancelled) return;
        now += ms;
        run();
      });
      return () => void (cancelled = true);
    },
  };
}
