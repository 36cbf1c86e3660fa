/** A failure of the file history. Its message says what happened and what to do. */
export class HistoryError extends Error {
  override readonly name = "HistoryError";
}
