import { createHash } from "node:crypto";
import type { OpenQuestion } from "@keelson/protocol";
import { UsageError } from "../options/usage-error.ts";
import type { CodingRunner } from "./coding-runner.ts";

/** A question that waits for a decision, with an id that can be typed. */
export interface WaitingQuestion extends OpenQuestion {
  /** Eight characters, or more if others begin the same. */
  readonly id: string;
}

const ID_LENGTH = 8;

/** The open questions of all sessions. */
export async function openQuestions(runner: Pick<CodingRunner, "approvals">): Promise<readonly WaitingQuestion[]> {
  const questions = await runner.approvals.list();
  const ids = questions.map(({ token }) => idOf(token));
  return questions.map((question, index) => ({ id: shortId(ids[index] as string, ids), ...question }));
}

/**
 * Returns the token that a person names: a whole one, or the id of an open question.
 * @throws UsageError if several questions have ids that begin so
 */
export async function tokenNamed(given: string, runner: Pick<CodingRunner, "approvals">): Promise<string> {
  // Tokens are longer, and hold other characters.
  if (!/^[0-9a-f]{4,64}$/i.test(given)) return given;
  const named = (await runner.approvals.list()).filter(({ token }) => idOf(token).startsWith(given.toLowerCase()));
  if (named.length === 0)
    throw new UsageError(
      `no open question has the id ${given}`,
      "keelson approve alone lists those that wait; an answered question has none.",
    );
  if (named.length > 1) throw new UsageError(`${named.length} questions have ids that begin with ${given}`, "Give more of the id.");
  return named[0]?.token ?? given;
}

function idOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function shortId(id: string, all: readonly string[]): string {
  for (let length = ID_LENGTH; length < id.length; length++) {
    const short = id.slice(0, length);
    if (all.filter((one) => one.startsWith(short)).length === 1) return short;
  }
  return id;
}
