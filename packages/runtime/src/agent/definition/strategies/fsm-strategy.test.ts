import { StrategyError, type JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { closureGuard } from "./closure-guard.ts";
import { directStrategy } from "./direct-strategy.ts";
import { FsmStrategyWithRoutes } from "./fsm-strategy.ts";
import { fsmStrategy } from "./fsm-strategy-builder.ts";

const amount = (input: JsonValue): number => (input as { readonly amount: number }).amount;

function ticket() {
  return fsmStrategy()
    .state("triage")
    .transition("triage", "verify", "verified")
    .transitionWithGuard(
      "verified",
      "refund",
      "review",
      closureGuard("over 50", (input) => amount(input) > 50),
      1,
    )
    .transitionWithGuard(
      "verified",
      "refund",
      "done",
      closureGuard("over 0", (input) => amount(input) > 0),
      10,
    )
    .transition("verified", "note", "verified")
    .initial("triage");
}

function failureOf(act: () => unknown): StrategyError["failure"] {
  try {
    act();
  } catch (error) {
    if (StrategyError.is(error)) return error.failure;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("a state machine", () => {
  it("begins in its initial state, does actions that are transitions from its state, and gives their input back [FS-03, FS-06, FS-08, FS-12]", () => {
    const { strategy } = ticket().build();
    expect(strategy.currentState()).toBe("triage");
    const input = { who: "ada" };
    expect(strategy.execute("verify", input)).toBe(input);
    expect(strategy.currentState()).toBe("verified");
    expect(strategy.execute("note", null)).toBe(null);
    expect(strategy.currentState()).toBe("verified");
  });

  it("refuses an action that is none from its state, naming the state, the action and what is valid, and stays [FS-03, ER-10, ET-13]", () => {
    const { strategy } = ticket().build();
    expect(failureOf(() => strategy.execute("refund", { amount: 1 }))).toMatchObject({
      kind: "invalid-transition",
      currentState: "triage",
      attemptedAction: "refund",
      validActions: ["verify"],
    });
    strategy.execute("verify", null);
    expect(failureOf(() => strategy.execute("verify", null))).toMatchObject({ validActions: ["refund", "note"] });
    strategy.execute("refund", { amount: 1 });
    const failure = failureOf(() => strategy.execute("refund", { amount: 1 }));
    expect(failure).toMatchObject({ currentState: "done", validActions: [] });
    expect(failure.message).toContain("No action is possible there");
  });

  it("tries the transition of the highest priority first, and stays when all guards refuse, whom it names [FS-02, FS-07, ER-10, ET-14]", () => {
    const { strategy } = ticket().build();
    strategy.execute("verify", null);
    const failure = failureOf(() => strategy.execute("refund", { amount: 0 }));
    expect(failure).toMatchObject({ kind: "guard-rejected", guards: ["over 0", "over 50"] });
    expect(failure.message).toContain(`"over 0", "over 50"`);
    expect(strategy.currentState()).toBe("verified");
    strategy.execute("refund", { amount: 80 });
    expect(strategy.currentState()).toBe("done");
  });

  it("takes an unguarded transition for one of priority 0, and equal priorities in their order [FS-10, FS-12]", () => {
    const always = closureGuard("always", () => true);
    const lead = (priority: number): string => {
      const { strategy } = fsmStrategy()
        .initial("a")
        .transition("a", "go", "plain")
        .transitionWithGuard("a", "go", "guarded", always, priority)
        .build();
      strategy.execute("go", null);
      return strategy.currentState();
    };
    expect([lead(-1), lead(0), lead(1)]).toEqual(["plain", "plain", "guarded"]);
  });

  it("has the states that its transitions name: one that is only declared is documentation [FS-05]", () => {
    const { strategy } = ticket().state("nowhere").build();
    expect([...strategy.machine.states]).toEqual(["triage", "verified", "review", "done"]);
  });

  it("can't be built without an initial state [FS-09, ER-10]", () => {
    expect(failureOf(() => fsmStrategy().transition("a", "go", "b").build()).kind).toBe("no-initial-state");
  });

  it("is built as a strategy with its signal routes, which does what the strategy in it does [FS-04, FS-08]", () => {
    const route = { kind: "takeover", action: { type: "transition", state: "done" }, priority: 3 } as const;
    const built = ticket().route(route).build();
    expect(built).toBeInstanceOf(FsmStrategyWithRoutes);
    expect(built.signalRoutes()).toEqual([route]);
    expect(built.strategy.signalRoutes()).toEqual([]);
    expect(built.execute("verify", 1)).toBe(1);
    expect(built.strategy.currentState()).toBe("verified");
    expect([built.tick(), built.snapshot()]).toEqual([{ done: false }, { type: "fsm", state: "verified" }]);
    expect(built.machine).toBe(built.strategy.machine);
  });

  it("is done where no action leads on, and is taken back to a snapshot [FS-12]", () => {
    const { strategy } = ticket().build();
    const before = strategy.snapshot();
    strategy.execute("verify", null);
    strategy.execute("refund", { amount: 5 });
    expect(strategy.tick()).toEqual({ done: true });
    strategy.restore(JSON.parse(JSON.stringify(before)));
    expect([strategy.currentState(), strategy.tick()]).toEqual(["triage", { done: false }]);
    for (const nonsense of [{ type: "fsm", state: "gone" }, { type: "direct" }, {}])
      expect(failureOf(() => strategy.restore(nonsense)).message).toContain(`"triage", "verified", "review", "done"`);
    expect(strategy.currentState()).toBe("triage");
  });

  it("says what a guard threw, and stays [ER-10]", () => {
    const { strategy } = fsmStrategy()
      .initial("a")
      .transitionWithGuard(
        "a",
        "go",
        "b",
        closureGuard("broken", () => {
          throw new Error("no luck");
        }),
        0,
      )
      .build();
    expect(failureOf(() => strategy.execute("go", null))).toMatchObject({
      kind: "execution",
      message: `The guard "broken" threw: no luck`,
    });
    expect(strategy.currentState()).toBe("a");
  });

  it.each<readonly [string, () => unknown, RegExp]>([
    ["a guard without a name [FS-02]", () => closureGuard("", () => true), /needs a name/],
    ["a guard that is no function", () => closureGuard("g", true as never), /"g" needs a function/],
    [
      "a transition with no guard where one is due",
      () => ticket().transitionWithGuard("a", "b", "c", undefined as never, 1),
      /closureGuard/,
    ],
    [
      "a priority that is no number",
      () =>
        ticket().transitionWithGuard(
          "a",
          "b",
          "c",
          closureGuard("g", () => true),
          Number.NaN,
        ),
      /NaN/,
    ],
    ["an empty name", () => ticket().transition("", "go", "b"), /state must be a text/],
    ["an empty action", () => ticket().transition("a", "", "b"), /action must be a text/],
    [
      "tools of a state that no transition names",
      () =>
        ticket()
          .state("nowhere", { tools: ["look"] })
          .build(),
      /"nowhere" has tools/,
    ],
    ["an offer of what is no action", () => ticket().offer("vanish").build(), /"vanish" is offered/],
  ])("refuses %s", (_title, make, message) => {
    expect(failureOf(make).message).toMatch(message);
  });

  it("does not change once it is built", () => {
    const builder = ticket();
    const { strategy } = builder.build();
    builder
      .transition("triage", "skip", "done")
      .state("triage", { tools: ["look"] })
      .tools("help");
    expect(strategy.machine.actionsFrom("triage")).toEqual(["verify"]);
    expect(strategy.machine.toolsIn("triage")).toEqual([]);
  });
});

describe("the direct strategy", () => {
  it("does every action at once and passes its input through; all are alike [FS-11]", () => {
    const strategy = directStrategy();
    const input = { any: ["thing"] };
    expect(strategy.execute("whatever", input)).toBe(input);
    expect([strategy.tick(), strategy.snapshot(), strategy.signalRoutes(), strategy.machine]).toEqual([
      { done: false },
      directStrategy().snapshot(),
      [],
      undefined,
    ]);
  });
});

const STATES = ["a", "b", "c", "d"];
const ACTIONS = ["x", "y", "z"];
interface Edge {
  readonly from: string;
  readonly action: string;
  readonly to: string;
  /** Accepts inputs of at least this; absent: unguarded. */
  readonly least?: number;
  readonly priority: number;
}
const edges: fc.Arbitrary<readonly Edge[]> = fc.array(
  fc
    .record({
      from: fc.constantFrom(...STATES),
      action: fc.constantFrom(...ACTIONS),
      to: fc.constantFrom(...STATES),
      least: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
      priority: fc.integer({ min: -2, max: 2 }),
    })
    .map(({ least, priority, ...edge }) => (least === undefined ? { ...edge, priority: 0 } : { ...edge, least, priority })),
  { maxLength: 12 },
);
const steps = fc.array(fc.tuple(fc.constantFrom(...ACTIONS), fc.integer({ min: 0, max: 4 })), { maxLength: 20 });

function machineOf(list: readonly Edge[]): FsmStrategyWithRoutes {
  const builder = fsmStrategy().initial("a");
  for (const { from, action, to, least, priority } of list)
    if (least === undefined) builder.transition(from, action, to);
    else
      builder.transitionWithGuard(
        from,
        action,
        to,
        closureGuard(`>= ${least}`, (input) => (input as number) >= least),
        priority,
      );
  return builder.build();
}

/** What an action does, as the list of edges says it. */
function expected(list: readonly Edge[], state: string, action: string, input: number): string | undefined {
  const open = list.filter((edge) => edge.from === state && edge.action === action && (edge.least === undefined || input >= edge.least));
  const best = Math.max(...open.map(({ priority }) => priority));
  return open.find(({ priority }) => priority === best)?.to;
}

describe("any state machine", () => {
  it("moves along its transitions and no other way: what it refuses changes nothing, and it says what was valid [FS-03, FS-07]", () => {
    fc.assert(
      fc.property(edges, steps, (list, sequence) => {
        const { strategy } = machineOf(list);
        let state = "a";
        for (const [action, input] of sequence) {
          const to = expected(list, state, action, input);
          if (to !== undefined) {
            expect(strategy.execute(action, input)).toBe(input);
            state = to;
          } else {
            const failure = failureOf(() => strategy.execute(action, input));
            const here = list.filter((edge) => edge.from === state);
            const guards = here.filter((edge) => edge.action === action).map(({ least }) => `>= ${least}`);
            if (failure.kind === "invalid-transition") {
              expect(new Set(failure.validActions)).toEqual(new Set(here.map((edge) => edge.action)));
              expect(guards).toEqual([]);
            } else {
              expect(failure.kind === "guard-rejected" && new Set(failure.guards)).toEqual(new Set(guards));
              expect(guards).not.toEqual([]);
            }
          }
          expect(strategy.currentState()).toBe(state);
        }
      }),
    );
  });

  it("goes on from a snapshot as if nothing had come between, in another copy of it too [FS-12]", () => {
    fc.assert(
      fc.property(edges, steps, steps, (list, before, after) => {
        const attempt = (strategy: FsmStrategyWithRoutes["strategy"], [action, input]: readonly [string, number]): string => {
          try {
            strategy.execute(action, input);
            return strategy.currentState();
          } catch (error) {
            return (error as Error).message;
          }
        };
        const { strategy } = machineOf(list);
        for (const step of before) attempt(strategy, step);
        const snapshot = JSON.parse(JSON.stringify(strategy.snapshot()));
        const { strategy: copy } = machineOf(list);
        copy.restore(snapshot);
        const first = after.map((step) => attempt(strategy, step));
        expect(after.map((step) => attempt(copy, step))).toEqual(first);
        strategy.restore(snapshot);
        expect(after.map((step) => attempt(strategy, step))).toEqual(first);
      }),
    );
  });
});
