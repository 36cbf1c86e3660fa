import { OrchestratorError, type Authority } from "@keelson/protocol";
import { narrowAuthority } from "../agent/definition/permissions/narrow-authority.ts";

const UNRESTRICTED: Authority = { policies: [], depth: 8 };

/**
 * What a dispatch may do, for any orchestrator: what it was given, but never more than the dispatch that started it.
 * @throws OrchestratorError of kind `dispatch-failed` where dispatches are nested too deep
 */
export function authorityBelow(above: Authority | undefined, given: Authority | undefined, operator: string): Authority {
  if (above === undefined) return given ?? UNRESTRICTED;
  if (above.depth < 1) {
    throw new OrchestratorError({
      kind: "dispatch-failed",
      message: `"${operator}" was not started: the limit of nested dispatches is reached.`,
    });
  }
  return narrowAuthority(narrowAuthority(above, given ?? {}), { depth: above.depth - 1 });
}
