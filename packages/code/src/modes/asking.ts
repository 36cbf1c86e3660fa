import { AgentError, type AgentEvent, type ApprovalRequest, type Decision, type PermissionMode } from "@keelson/protocol";
import type { PendingApproval, Run } from "keelson";
import { modeToCarryOut } from "../core/plan-answer.ts";
import { createOpenQuestions } from "./open-questions.ts";
import { createQuestionDialog } from "./question-dialog.ts";
import type { QuestionDialog, QuestionDialogOptions } from "./question-steps.ts";
import type { TerminalInput } from "./terminal-input.ts";

export interface AskingOptions extends Pick<QuestionDialogOptions, "screen" | "style" | "reading"> {
  readonly input: Pick<TerminalInput, "message" | "question" | "answer">;
  /** The prompt of the input while nothing is asked. */
  readonly prompt: string;
  /** The permission mode that holds. */
  mode(): PermissionMode;
  /** Sets the mode in which the plan that is accepted can be carried out. */
  setMode(mode: PermissionMode): Promise<void>;
  /** Keeps patterns of allow rules for later sessions in this project. */
  allowInProject(rules: readonly string[]): Promise<void>;
  failed(error: unknown): void;
  /** Called when a question is shown, and when none is open any more. */
  onAsked(request: ApprovalRequest | undefined): void;
}

/** Asks a person what the runs of a conversation ask, one question after another. */
export interface Asking {
  /** The question that was shown last. */
  readonly lastAsked: ApprovalRequest | undefined;
  /** Takes what the run asks, until it is over. */
  collect(run: Run<unknown>): Promise<void>;
  /** Questions come up after what led to them was shown, and go away when they are decided elsewhere. */
  following(events: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent>;
  /** A line that was typed as an answer. */
  answer(line: string): void;
  /** Leaves what is being edited. @returns false if nothing is */
  back(): boolean;
  /** Drops the questions of a run that is over. */
  clear(): void;
  /** Forgets the question that was shown last: it was one of another session. */
  forget(): void;
}

export function createAsking(options: AskingOptions): Asking {
  const { screen, style, reading, input, prompt, mode, setMode, allowInProject, failed, onAsked } = options;
  let dialog: { readonly token: string; readonly steps: QuestionDialog } | undefined;
  let lastAsked: ApprovalRequest | undefined;
  const questions = createOpenQuestions(ask);

  function ask(): void {
    const question = questions.current();
    if (question === undefined) {
      if (dialog !== undefined) onAsked(undefined);
      dialog = undefined;
      return input.message(prompt);
    }
    const { request } = question;
    if (dialog?.token === request.token) return;
    const steps = createQuestionDialog(request, {
      ...{ screen, style, reading, input },
      decide(decision, holds) {
        questions.decided(question);
        record(question, decision, decision.type === "allow-always" && holds === "project" ? decision.rules : undefined).catch(failed);
      },
    });
    dialog = { token: request.token, steps };
    lastAsked = request;
    onAsked(request);
    steps.open();
  }

  /** @param forProject rules to keep beyond this session */
  async function record(question: PendingApproval, decision: Decision, forProject: readonly string[] = []): Promise<void> {
    try {
      const wanted = modeToCarryOut(question.request, decision, mode());
      if (wanted !== undefined) await setMode(wanted);
    } catch (error) {
      questions.reopen(question);
      throw error;
    }
    try {
      await question.decide(decision);
    } catch (error) {
      // A rule that fits no call, say: nothing was decided, and the run still waits.
      if (AgentError.is(error, "invalid-option")) questions.reopen(question);
      throw error;
    }
    if (forProject.length > 0) await allowInProject(forProject);
  }

  return {
    get lastAsked() {
      return lastAsked;
    },
    collect: (run) => questions.collect(run),
    following: (events) => questions.following(events),
    answer: (line) => dialog?.steps.answer(line),
    back: () => dialog?.steps.back() === true,
    clear: () => questions.clear(),
    forget() {
      lastAsked = undefined;
    },
  };
}
