import type { Signal, SignalAction, SignalRoute } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSignalRouter, signalRoute } from "./signal-router.ts";

const to = (name: string): SignalAction => ({ type: "custom", name });
const order: Signal = { kind: "order", payload: { amount: 7 } };

describe("a signal router", () => {
  it("lets the strategy's routes win over the agent's and those over the plugins', whatever their priorities [SI-05, SI-06]", () => {
    const strategy = [signalRoute("order", to("strategy"), 0)];
    const agent = [signalRoute("order", to("agent"), 100)];
    const plugin = [signalRoute("order", to("plugin"), 1000)];
    expect(createSignalRouter(strategy, agent, plugin).route(order)).toEqual(to("strategy"));
    expect(createSignalRouter([], agent, plugin).route(order)).toEqual(to("agent"));
    expect(createSignalRouter([], [], plugin).route(order)).toEqual(to("plugin"));
  });

  it("takes the highest priority within a tier, and of equal ones the first [SI-05]", () => {
    const routes = [
      signalRoute("order", to("low"), -1),
      signalRoute("order", to("first"), 5),
      signalRoute("order", to("second"), 5),
      signalRoute("order", to("default")),
    ];
    expect(createSignalRouter([], routes, []).route(order)).toEqual(to("first"));
    expect(createSignalRouter([], routes.toReversed(), []).route(order)).toEqual(to("second"));
  });

  it("passes over routes for other kinds, and those whose predicate says no; without a match there is nothing [SI-03, SI-06]", () => {
    const large = signalRoute("order", to("large"), 1, ({ payload }) => (payload as { readonly amount: number }).amount > 5);
    const router = createSignalRouter([signalRoute("timer", to("timer"), 9)], [large], []);
    expect(router.route(order)).toEqual(to("large"));
    expect(router.route({ kind: "order", payload: { amount: 1 } })).toBeUndefined();
    expect(router.route({ kind: "else", payload: null })).toBeUndefined();
    expect(createSignalRouter([], [], []).route(order)).toBeUndefined();
  });

  it("is not changed by what becomes of the lists it was made of [SI-03]", () => {
    const routes = [signalRoute("order", to("kept"))];
    const router = createSignalRouter(routes, [], []);
    routes[0] = signalRoute("order", to("changed"), 9);
    expect(router.route(order)).toEqual(to("kept"));
  });

  it("decides as the rule says it, for any routes and signals [SI-05, SI-06]", () => {
    const tier = fc.array(
      fc.record({
        kind: fc.constantFrom("stop", "timer", "order"),
        priority: fc.integer({ min: -2, max: 2 }),
        least: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
      }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(
        fc.tuple(tier, tier, tier),
        fc.record({ kind: fc.constantFrom("stop", "timer", "order", "none"), payload: fc.integer({ min: 0, max: 3 }) }),
        (tiers, signal) => {
          const routes = tiers.map((list, level) =>
            list.map(({ kind, priority, least }, index): SignalRoute => {
              const predicate = least === undefined ? undefined : ({ payload }: Signal) => (payload as number) >= least;
              return signalRoute(kind, to(`${level}/${index}`), priority, predicate);
            }),
          );
          // Level, then priority, then place: the rule, said as one order of all that match.
          const matching = tiers
            .flatMap((list, level) => list.map((route, index) => ({ ...route, level, index })))
            .filter(({ kind, least }) => kind === signal.kind && (least === undefined || signal.payload >= least))
            .sort((a, b) => a.level - b.level || b.priority - a.priority || a.index - b.index);
          const [best] = matching;
          const [strategy = [], agent = [], plugin = []] = routes;
          expect(createSignalRouter(strategy, agent, plugin).route(signal)).toEqual(best && to(`${best.level}/${best.index}`));
        },
      ),
    );
  });
});
