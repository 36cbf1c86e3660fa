import type { Decision } from "@keelson/protocol";
import { LeafControl } from "../../../tools/leaf-control.ts";
import { abortedBy, openWaits } from "../../features/questions/ask-people.ts";
import { closeQuestion, decisionOn, publishQuestion, type Published, type Question } from "../../features/questions/publish-question.ts";
import { waitForDecisions } from "../../features/questions/wait-for-decisions.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import type { RunningCall } from "../../turn/pending-call.ts";
import { AnswerWait } from "./answer-wait.ts";
import { mayHaveRun, noteNotDone, reserveAgain } from "../tool-call-ledger.ts";

/**
 * Stands between one execution of a call and the people that it asks while it runs. Where nobody answers, a call that may be made again
 * is ended, and waits; one that may not is held open for a while.
 */
export class CallBroker {
  readonly loop: Loop;
  readonly call: RunningCall;
  /** Of the leaf that runs. */
  readonly control: LeafControl = new LeafControl();
  /** How the run ends, once what the call came to is told. */
  ending: Error | undefined;
  #questions = 0;
  #inferences = 0;
  readonly #asked: Published[] = [];
  readonly #over = new AbortController();
  readonly #underway = new Set<Promise<unknown>>();
  #suspends = false;

  constructor(loop: Loop, call: RunningCall) {
    this.loop = loop;
    this.call = call;
  }

  /** Questions and inferences are told apart by their order, in which a repeated call has them as well. */
  nextQuestion(): number {
    return ++this.#questions;
  }

  nextInference(): number {
    return ++this.#inferences;
  }

  /**
   * What a person says to a question; nothing where nobody does, or the call or its run is over.
   * @param mayRepeat whether the call may be made again from its start: then it does not wait here for somebody elsewhere
   * @throws DOMException `AbortError` where the call is ended
   */
  async decide(question: Question, mayRepeat: boolean): Promise<Decision | undefined> {
    if (this.#over.signal.aborted) return undefined;
    if (this.control.isEnded) throw endedCall();
    try {
      return await this.#decide(question, mayRepeat);
    } catch (error) {
      // Of the callback that answers, or of the log: nothing that the tool could do about it.
      if (!isEndedCall(error)) this.#end(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  }

  async #decide(question: Question, mayRepeat: boolean): Promise<Decision | undefined> {
    const { loop, call, control } = this;
    const isWrite = call.tool.effect === "write";
    const request = publishQuestion(loop, question);
    const known = decisionOn(loop, request.nonce);
    if (known !== undefined) return this.#follow(known);
    this.#asked.push(request);
    // Whoever asks says that nothing happened yet: as long as that holds, nobody needs to find out what became of the call.
    if (mayRepeat && isWrite) noteNotDone(loop, call);
    const { signal } = this.#over;
    const waited = await control.hold(() => waitForDecisions(loop, [request], { isHeld: !mayRepeat, signal }));
    if (control.isEnded) throw endedCall();
    const decision = decisionOn(loop, request.nonce);
    if (waited === "open" && mayRepeat) {
      this.#suspends = true;
      control.end(endedCall());
      throw endedCall();
    }
    if (decision === undefined) {
      closeQuestion(loop, request.nonce);
      await loop.execution.flush();
      return undefined;
    }
    // From here on it may do what it asked about.
    if (isWrite && !mayHaveRun(loop, call)) await reserveAgain(loop, call);
    return this.#follow(decision);
  }

  /** Does something that is recorded, and that `close` waits for. Its signal fires when the call or its run is to end. */
  async during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal, stopping } = this.loop.execution;
    const begun = work(AbortSignal.any([signal, stopping, this.#over.signal]));
    this.#underway.add(begun);
    try {
      return await begun;
    } finally {
      this.#underway.delete(begun);
    }
  }

  #follow(decision: Decision): Decision {
    if (decision.type !== "abort") return decision;
    this.#end(abortedBy(decision));
    throw endedCall();
  }

  #end(ending: Error): void {
    this.ending ??= ending;
    this.control.end(endedCall());
  }

  /**
   * The execution is over, and so are its questions, but for those that the call waits for.
   * @returns what the run waits for, where the call is to be made again
   */
  async close(): Promise<AnswerWait | undefined> {
    const { loop, call } = this;
    this.#over.abort("the call is over");
    await Promise.allSettled(this.#underway);
    const isWaiting = this.#suspends && this.ending === undefined;
    const kept = new Set(isWaiting ? this.#asked.map(({ nonce }) => nonce) : []);
    for (const [nonce, { callId, decision }] of runOf(loop).questions)
      if (callId === call.part.id && decision === undefined && !kept.has(nonce)) closeQuestion(loop, nonce);
    if (!isWaiting) return undefined;
    loop.execution.put(`${call.key}/suspended/${call.number}`, "tool-suspended", { callId: call.part.id });
    const waits = openWaits(loop, this.#asked);
    return new AnswerWait(waits.some(({ type }) => type === "decision") ? "awaiting-decision" : "awaiting-approval", waits);
  }
}

function endedCall(): DOMException {
  return new DOMException("The call is ended here: it asked something that nobody has answered, or its run ends.", "AbortError");
}

function isEndedCall(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
