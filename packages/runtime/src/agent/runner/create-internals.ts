import type { Outside } from "../../session/outside-reached.ts";
import type { Moments } from "../turn/moments.ts";
import type { RunnerServices } from "../turn/runner-services.ts";
import { beginOnly } from "./begin-only.ts";
import type { RunnerInternals } from "./runner-internals.ts";
import { startRun } from "./start-run.ts";
import { takeUpRun } from "./take-up-run.ts";

interface Parts extends Pick<RunnerInternals, "find" | "names"> {
  readonly services: RunnerServices;
  readonly moments: Moments | undefined;
  readonly outside?: Outside;
}

/** What starts runs and goes on with them, on these services. */
export function createInternals({ services, moments, find, names, outside }: Parts): RunnerInternals {
  const inner: RunnerInternals = {
    services,
    moments,
    outside,
    resume: (session, options = {}) => takeUpRun(inner, session, { ...options, asChild: true }),
    find,
    names,
    start: (agent, input, options, origin) => startRun(inner, agent, input, options, origin),
    begin: (agent, session, input, options, origin) => beginOnly(inner, agent, session, input, options, origin),
  };
  return inner;
}
