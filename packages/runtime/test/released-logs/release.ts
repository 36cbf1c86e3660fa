import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The parts of a release that scenarios use. What writes the logs has those of the release, what reads them those of today. */
export interface Release {
  readonly root: typeof import("../../src/index.ts");
  readonly agent: typeof import("../../src/agent/index.ts");
  readonly orchestration: typeof import("../../src/orchestration/index.ts");
  readonly state: typeof import("../../src/state/index.ts");
  readonly testing: typeof import("../../src/testing/index.ts");
}

/** The sources of a checkout of a release. */
export async function loadRelease(checkout: string): Promise<Release> {
  const load = async (path: string): Promise<never> =>
    (await import(pathToFileURL(join(checkout, "packages/runtime/src", path, "index.ts")).href)) as never;
  return {
    root: await load("."),
    agent: await load("agent"),
    orchestration: await load("orchestration"),
    state: await load("state"),
    testing: await load("testing"),
  };
}
