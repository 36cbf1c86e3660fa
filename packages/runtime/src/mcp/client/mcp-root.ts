/** A folder that servers are told they may work with. */
export interface McpRoot {
  /** `file:///home/me/project` */
  readonly uri: string;
  readonly name?: string;
}
