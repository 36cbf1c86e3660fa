import type { ApprovalRequest, Approver } from "@keelson/protocol";
import type { Approvals } from "../loop/loop.ts";
import type { World } from "../world.ts";
import { createApprovalTokens, type ApprovalTokens } from "./approval-token.ts";

const DEFAULT_WAIT_MS = 5 * 60_000;
const DEFAULT_TTL_MS = 7 * 24 * 60 * 60_000;

/** How the questions of a run are asked in its world. */
export class RunApprovals implements Approvals {
  readonly #world: World;
  readonly #desk: Pick<Approvals, "watched" | "ask">;

  constructor(world: World, desk: Pick<Approvals, "watched" | "ask">) {
    this.#world = world;
    this.#desk = desk;
  }

  get tokens(): ApprovalTokens {
    const { approvalKeys: keys, clock } = this.#world;
    return createApprovalTokens({ keys, now: () => clock.now() });
  }

  get approver(): Approver | undefined {
    return this.#world.approvals;
  }

  get waitMs(): number {
    return this.#world.approvalWaitMs ?? DEFAULT_WAIT_MS;
  }

  get ttlMs(): number {
    return this.#world.approvalTtlMs ?? DEFAULT_TTL_MS;
  }

  get watched(): boolean {
    return this.#desk.watched;
  }

  ask(request: ApprovalRequest): void {
    this.#desk.ask(request);
  }
}
