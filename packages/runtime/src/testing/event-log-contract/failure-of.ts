import { LogError } from "@keelson/protocol";

/** The failure of a `LogError`; anything else that happens fails the test. */
export async function failureOf(action: Promise<unknown>): Promise<LogError["failure"]> {
  try {
    await action;
  } catch (error) {
    if (LogError.is(error)) return error.failure;
    throw error;
  }
  throw new Error("It resolved, though it should have been rejected with a LogError.");
}
