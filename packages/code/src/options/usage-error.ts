/** The command was used wrongly: exit code 2, no stack. `hint` says what to do instead. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly hint: string;

  constructor(message: string, hint = "Try `keelson --help`.") {
    super(message);
    this.hint = hint;
  }
}
