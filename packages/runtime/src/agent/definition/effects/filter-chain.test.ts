import { DirectiveError, type Directive, type DirectiveFilter } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { directive as anyDirective } from "../../../../../protocol/test/payload-arbitraries/effect.ts";
import { createFilterChain } from "./filter-chain.ts";

const stop: Directive = { type: "stop", reason: "enough" };
const rename = (suffix: string): DirectiveFilter => ({
  name: `rename ${suffix}`,
  filter: (directive) => (directive.type === "stop" ? { ...directive, reason: `${directive.reason ?? ""}${suffix}` } : directive),
});
const suppress: DirectiveFilter = { name: "silence", filter: () => undefined };
const reject: DirectiveFilter = {
  name: "no stops",
  filter(directive) {
    if (directive.type === "stop") throw new Error("stopping is not allowed here");
    return directive;
  },
};

describe("a filter chain", () => {
  it("passes directives through all filters in order, each seeing what the one before it made [ER-12, ER-13]", () => {
    const chain = createFilterChain().add(rename(" a")).add(rename(" b"));
    expect(chain.apply(stop)).toEqual({ type: "pass", directive: { type: "stop", reason: "enough a b" } });
    expect(chain.applyOrNull(stop)).toEqual({ type: "stop", reason: "enough a b" });
    expect(createFilterChain().apply(stop)).toEqual({ type: "pass", directive: stop });
  });

  it("says which filter suppressed a directive, and asks none after it [ER-12, ER-13, ER-15]", () => {
    const asked: string[] = [];
    const noting: DirectiveFilter = { name: "noting", filter: (directive) => (asked.push("noting"), directive) };
    const chain = createFilterChain([suppress, noting]);
    expect(chain.apply(stop)).toEqual({ type: "suppress", by: "silence" });
    expect(chain.applyOrNull(stop)).toBeNull();
    expect(asked).toEqual([]);
  });

  it("shows a rejection with its error, where a bare directive or nothing could not [ER-12, ER-14]", () => {
    const chain = createFilterChain([reject]);
    const decision = chain.apply(stop);
    expect(decision).toMatchObject({ type: "reject", by: "no stops" });
    const error = decision.type === "reject" ? DirectiveError.fromJSON(decision.error) : undefined;
    expect(error?.failure).toEqual({
      kind: "rejected",
      directive: "stop",
      by: "no stops",
      message: 'The directive "stop" was rejected by the filter "no stops": stopping is not allowed here',
    });
    expect(() => chain.applyOrNull(stop)).toThrow(expect.objectContaining({ failure: error?.failure }));
    expect(chain.applyOrNull({ type: "stop-child", name: "a" })).toEqual({ type: "stop-child", name: "a" });
  });

  it("asks a filter for its decision where it has one, else for what it leaves of a copy [ER-15]", () => {
    const mutating: DirectiveFilter = {
      name: "mutating",
      filter(directive) {
        (directive as { reason?: string }).reason = "changed";
        return directive;
      },
    };
    const given: Directive = { type: "stop", reason: "kept" };
    expect(createFilterChain([mutating]).apply(given)).toEqual({ type: "pass", directive: { type: "stop", reason: "changed" } });
    expect(given).toEqual({ type: "stop", reason: "kept" });
    const deciding: DirectiveFilter = { ...mutating, decision: () => ({ type: "suppress", by: "its own words" }) };
    expect(createFilterChain([deciding]).apply(given)).toEqual({ type: "suppress", by: "its own words" });
  });

  it("suppresses exactly when one of its filters does, wherever that stands [ER-13, ER-15]", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("pass", "suppress"), { maxLength: 6 }), anyDirective, (verdicts, directive) => {
        const chain = createFilterChain(
          verdicts.map((verdict, index) => ({ name: `${index}`, filter: (given) => (verdict === "pass" ? given : undefined) })),
        );
        const first = verdicts.indexOf("suppress");
        expect(chain.apply(directive)).toEqual(first < 0 ? { type: "pass", directive } : { type: "suppress", by: `${first}` });
      }),
    );
  });
});
