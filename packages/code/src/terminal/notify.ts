import { truncated } from "../text/display-width.ts";
import { printableLine } from "../text/printable.ts";

/** The sequence by which a terminal shows a notification of the system: that of iTerm2 (OSC 9), that of rxvt (OSC 777), or none but the bell. */
export type NotificationForm = "osc9" | "osc777" | "bell";

export interface Notification {
  readonly title: string;
  readonly body: string;
}

export interface Notifier {
  /** Records a report of the terminal that it got the focus, or lost it. */
  focus(hasFocus: boolean): void;
  /** Returns what is to be written with `control` of the screen; no text while the terminal has the focus. */
  notify(notification: Notification): string;
}

export interface NotifierOptions {
  readonly environment: { readonly [name: string]: string | undefined };
  /** The setting `notifications`. Default: "on" */
  readonly notifications?: "on" | "off" | undefined;
}

const BELL = "\u0007";
const MAX_TITLE = 60;
const MAX_BODY = 200;

/** A person is notified if they look elsewhere. A terminal that reports no focus counts as one that they do not see. */
export function createNotifier({ environment, notifications = "on" }: NotifierOptions): Notifier {
  const form = notificationForm(environment);
  let hasFocus = false;
  return {
    focus(reported) {
      hasFocus = reported;
    },
    notify: (notification) => (notifications === "off" || hasFocus ? "" : notificationSequence(notification, form)),
  };
}

/** Returns the form that a terminal knows. A multiplexer does not pass notifications on, but it marks a window that rang. */
export function notificationForm(environment: { readonly [name: string]: string | undefined }): NotificationForm {
  const { TERM = "", TERM_PROGRAM = "", TMUX = "", STY = "" } = environment;
  if (TMUX !== "" || STY !== "" || /^(?:screen|tmux)/.test(TERM)) return "bell";
  if (TERM_PROGRAM === "iTerm.app") return "osc9";
  if (/^(?:ghostty|WezTerm|WarpTerminal)$/.test(TERM_PROGRAM)) return "osc777";
  return /^(?:xterm-kitty|xterm-ghostty|foot|rxvt-unicode|wezterm|contour)/.test(TERM) ? "osc777" : "bell";
}

/** Returns the sequence of a notification, whose texts are made safe. */
export function notificationSequence({ title, body }: Notification, form: NotificationForm): string {
  // A semicolon would end the title.
  const safeTitle = truncated(printableLine(title).replaceAll(";", ","), MAX_TITLE);
  const safeBody = truncated(printableLine(body), MAX_BODY);
  if (form === "osc777") return `\u001b]777;notify;${safeTitle};${safeBody}${BELL}`;
  // A number at the beginning would be the command of a progress bar.
  if (form === "osc9") return `\u001b]9;${/^\d/.test(safeTitle) ? " " : ""}${safeTitle}: ${safeBody}${BELL}`;
  return BELL;
}
