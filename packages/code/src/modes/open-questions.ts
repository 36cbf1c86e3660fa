import type { AgentEvent } from "@keelson/protocol";
import type { PendingApproval, Run } from "keelson";

/** The questions of a run that nobody has decided, as far as this process knows, in the order in which they are shown. */
export interface OpenQuestions {
  /** The first whose event was shown. */
  current(): PendingApproval | undefined;
  /** Takes what the run asks, until it is over. */
  collect(run: Run<unknown>): Promise<void>;
  /** Questions come up after what led to them was shown, and go away when they are decided elsewhere. */
  following(events: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent>;
  /** Here somebody decided it. */
  decided(question: PendingApproval): void;
  /** That decision was refused: the question is still open. */
  reopen(question: PendingApproval): void;
  clear(): void;
}

// A question that was asked before this process took the run up has no event that comes.
const UNANNOUNCED_MS = 200;

/** @param changed the current question may be another one */
export function createOpenQuestions(changed: () => void): OpenQuestions {
  let questions: readonly PendingApproval[] = [];
  /** How many decisions of this process about a call the log has not confirmed yet: a call may be asked about again. */
  const unconfirmed = new Map<string, number>();
  /** A call may ask several things at once: which of them was decided, the log says by the nonce. */
  const tokens = new Map<string, string>();
  /** Tokens of questions whose event was shown. */
  const announced = new Set<string>();

  function announce(token: string): void {
    if (announced.has(token)) return;
    announced.add(token);
    changed();
  }

  /** @param token of one of several questions of a call; default: all of them */
  function forget(callId: string, token?: string): void {
    questions = questions.filter(({ request }) => (token === undefined ? request.callId !== callId : request.token !== token));
    changed();
  }

  return {
    current: () => questions.find(({ request }) => announced.has(request.token)),
    async collect(run) {
      for await (const question of run.approvals()) {
        questions = [...questions, question];
        setTimeout(announce, UNANNOUNCED_MS, question.request.token).unref();
        changed();
      }
    },
    async *following(events) {
      for await (const event of events) {
        if (event.type === "approval-decision") {
          const here = unconfirmed.get(event.callId) ?? 0;
          if (here > 0) unconfirmed.set(event.callId, here - 1);
          else forget(event.callId, tokens.get(event.nonce));
        }
        // What it asked and nobody answered is withdrawn.
        if (event.type === "tool-result") forget(event.callId);
        yield event;
        if (event.type !== "approval-request") continue;
        tokens.set(event.nonce, event.token);
        announce(event.token);
      }
    },
    decided({ request: { callId, token } }) {
      unconfirmed.set(callId, (unconfirmed.get(callId) ?? 0) + 1);
      forget(callId, token);
    },
    reopen(question) {
      const { callId } = question.request;
      unconfirmed.set(callId, Math.max(0, (unconfirmed.get(callId) ?? 0) - 1));
      questions = [question, ...questions];
      changed();
    },
    clear() {
      questions = [];
      unconfirmed.clear();
      announced.clear();
      tokens.clear();
      changed();
    },
  };
}
