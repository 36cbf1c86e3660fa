import { describe, expect, it } from "vitest";
import { launchFromMetadata, launchToMetadata } from "./launch.ts";
import { launchWith, type RunTerms } from "./run-terms.ts";

const LAUNCH = { cwd: "/p", agent: { model: "a/one", effort: "low" as const, rules: [] } };
const FROM: RunTerms = { model: "a/one", mode: "default", effort: "low" };

describe("launchWith", () => {
  it("records changed terms, which are read back with the session", () => {
    const launch = launchWith(LAUNCH, FROM, { model: "b/two", mode: "plan-only", effort: "max" });
    expect(launchFromMetadata(launchToMetadata(launch))?.agent).toMatchObject({
      model: "b/two",
      permissionMode: "plan-only",
      effort: "max",
    });
  });

  it("records no mode that came from a policy, and no effort that was taken back", () => {
    const { agent } = launchWith(LAUNCH, FROM, { model: "a/one", mode: "default", effort: undefined });
    expect(agent).toEqual({ model: "a/one", rules: [] });
  });
});
