import type { ApprovalRequest, Decision } from "@keelson/protocol";
import { Queue } from "../../turn/queue.ts";
import type { PendingApproval } from "../../definition/run.ts";

export interface PendingApprovalsOptions {
  /** Whether nobody has answered it yet, as far as this process knows. */
  isOpen(request: ApprovalRequest): boolean;
  decide(request: ApprovalRequest, decision: Decision): Promise<void>;
}

interface Offer {
  readonly pending: PendingApproval;
  isOpen(): boolean;
}

/** Where the questions of a run, and of its children, are laid out for whoever takes them from `run.approvals()`. */
export class PendingApprovals {
  readonly #options: PendingApprovalsOptions;
  #takers: readonly Queue<PendingApproval>[] = [];
  #offers: readonly Offer[] = [];
  #above: PendingApprovals | undefined;
  #closed = false;

  constructor(options: PendingApprovalsOptions) {
    this.#options = options;
  }

  /** Whether somebody takes questions, here or where the run was started. */
  get watched(): boolean {
    return this.#takers.length > 0 || this.#above?.watched === true;
  }

  /** Lays all questions out on that desk as well. */
  forwardTo(other: PendingApprovals): void {
    this.#above = other;
  }

  ask(request: ApprovalRequest): void {
    const { isOpen, decide } = this.#options;
    this.#lay({ pending: { request, decide: (decision) => decide(request, decision) }, isOpen: () => isOpen(request) });
  }

  /** What is open now, then what comes. */
  take(): AsyncIterable<PendingApproval> {
    const taker = new Queue<PendingApproval>(() => {
      this.#takers = this.#takers.filter((other) => other !== taker);
    });
    for (const { pending, isOpen } of this.#offers) if (isOpen()) taker.push(pending);
    if (this.#closed) taker.end();
    else this.#takers = [...this.#takers, taker];
    return taker;
  }

  /** Nothing more is asked. */
  close(): void {
    this.#closed = true;
    this.#above = undefined;
    this.#offers = [];
    for (const taker of this.#takers) taker.end();
    this.#takers = [];
  }

  #lay(offer: Offer): void {
    const { token } = offer.pending.request;
    this.#offers = [...this.#offers.filter((earlier) => earlier.pending.request.token !== token && earlier.isOpen()), offer];
    for (const taker of this.#takers) taker.push(offer.pending);
    if (this.#above) this.#above.#lay(offer);
  }
}
