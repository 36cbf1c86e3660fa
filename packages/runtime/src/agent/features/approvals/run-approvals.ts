import type { ApprovalRequest, Approver } from "@keelson/protocol";
import type { RunnerServices } from "../../turn/runner-services.ts";
import { createApprovalTokens, type ApprovalTokens } from "./approval-token.ts";
import type { Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";

/** How questions to people are asked. */
export interface Approvals {
  readonly tokens: ApprovalTokens;
  readonly approver: Approver | undefined;
  /** Whether somebody in this process takes questions from `run.approvals()`. */
  readonly watched: boolean;
  /** A run that nobody can go on with: what its tools ask is cancelled. */
  readonly asksNobody: boolean;
  /** Shows a question to whoever takes them. */
  ask(request: ApprovalRequest): void;
  /** How long such a person is waited for before the run suspends. */
  readonly waitMs: number;
  /** How long a token is good. */
  readonly ttlMs: number;
}

/** Where the questions of a run are laid out in this process. */
export type AskingPlace = Pick<Approvals, "watched" | "ask"> & Partial<Pick<Approvals, "asksNobody">>;

const DEFAULT_WAIT_MS = 5 * 60_000;
const DEFAULT_TTL_MS = 7 * 24 * 60 * 60_000;

/** Asks the questions of a run: of an approver in this process, or by suspending the run. */
export class RunApprovals implements Approvals {
  readonly #services: RunnerServices;
  readonly #pending: AskingPlace;

  constructor(services: RunnerServices, pending: AskingPlace) {
    this.#services = services;
    this.#pending = pending;
  }

  get tokens(): ApprovalTokens {
    const { approvalKeys: keys, clock } = this.#services;
    return createApprovalTokens({ keys, now: () => clock.now() });
  }

  get approver(): Approver | undefined {
    return this.#services.approvals;
  }

  get waitMs(): number {
    return this.#services.approvalWaitMs ?? DEFAULT_WAIT_MS;
  }

  get ttlMs(): number {
    return this.#services.approvalTtlMs ?? DEFAULT_TTL_MS;
  }

  get watched(): boolean {
    return this.#pending.watched;
  }

  get asksNobody(): boolean {
    return this.#pending.asksNobody === true;
  }

  ask(request: ApprovalRequest): void {
    this.#pending.ask(request);
  }
}

const APPROVALS = new PartKey<Approvals>("approvals");

export function approvalsOf({ parts }: Loop): Approvals {
  return parts.need(APPROVALS);
}

export function bindApprovals({ parts }: Loop, services: RunnerServices, pending: AskingPlace): void {
  parts.set(APPROVALS, new RunApprovals(services, pending));
}
