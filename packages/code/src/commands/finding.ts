/** What `keelson doctor` says of one thing. `ok`: works. `missing`: works less well without it. `broken`: must be mended. */
export interface Finding {
  readonly what: string;
  readonly state: "ok" | "missing" | "broken";
  readonly detail: string;
}
