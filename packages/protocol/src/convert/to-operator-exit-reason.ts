import type { ExitReason } from "../operator-output.ts";
import type { RunReason } from "../reason.ts";

type Halter = Extract<ExitReason, { readonly type: "halted"; readonly by: unknown }>["by"];
const HALTERS: readonly string[] = ["rule", "middleware", "hook", "plugin", "strategy"] satisfies readonly Halter[];

/** The end of a run as an operator reports it. `detail` says who halted it, or what the safety stop was about. */
export function toOperatorExitReason(reason: RunReason, detail?: { readonly by?: string; readonly reason: string }): ExitReason {
  if (detail !== undefined && reason === "safety-stop") return { type: "safety-stop", reason: detail.reason };
  if (detail?.by !== undefined && reason === "halted" && HALTERS.includes(detail.by))
    return { type: "halted", by: detail.by as Halter, reason: detail.reason };
  return { type: reason };
}
