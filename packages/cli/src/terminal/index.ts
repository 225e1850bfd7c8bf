// Conversations: with a person on a screen, or line by line.
export { converse, converseOn, type ConverseOptions, type ConverseOutcome } from "./plain/converse.ts";
export { converseOnScreen, type ConverseOnScreenOptions, runScreen, suitsScreen } from "./converse-on-screen.ts";
export { endingOf } from "./ending.ts";

// For custom screens and conversations.
export { terminalConversation } from "./conversation/terminal-conversation.ts";
export type {
  AttachmentPort,
  NestedApproval,
  NestedApprovalPort,
  ShellPort,
  TerminalConversationOptions,
} from "./conversation/options.ts";
export type * from "./conversation/screen-port.ts";
export type { FileChange } from "./blocks/block.ts";

// Keys and looks.
export { type Action, actions, type Keymap, keymapOf, keymaps } from "./input/keymap.ts";
export type { Key } from "./input/key.ts";
export type { HistoryPort } from "./input/history.ts";
export {
  opensLinks,
  painted,
  type TextStyle,
  type Theme,
  themeNamed,
  themeNameFor,
  themes,
  wantsColour,
} from "./text/theme.ts";

// Full-screen views, as values.
export type * from "./views/view.ts";
export { atView, diffView } from "./views/entry-views.ts";
export { explainView } from "./views/explain-view.ts";
export { firstQuestionIn } from "./views/first-question.ts";
export { searchView, threadsView } from "./views/thread-list-views.ts";
export { transcriptView } from "./views/transcript-view.ts";
export { treeView } from "./views/tree-view.ts";

// Lines, which views and laid out Markdown consist of.
export type { Line, Role, Size, Span } from "./text/line.ts";
export { cutLine, wrapped } from "./text/wrap.ts";
export { markdownBlockLines, markdownLines, type MarkdownLook } from "./markdown/markdown-lines.ts";
export { type CodePart, type MarkdownBlock, MarkdownStream } from "./markdown/markdown-stream.ts";

// Texts from outside, and descriptions of events.
export { Printer, type Style } from "./text/printer.ts";
export { approvableJson, named, oneLine, printable, printableJson, shortened } from "./text/printable.ts";
export { failureText, reasonOf } from "./text/failure-text.ts";
export { costOf, counted, durationOf, figuresOf, tokensOf } from "./text/figures.ts";

// For a command that reads questions from a pipe.
export type * from "./commands/command.ts";
export { commandIn, performCommand, slashCommands } from "./commands/commands.ts";
export { plainTarget, type PlainTargetOptions } from "./plain/plain-conversation.ts";
export { noteOf } from "./text/notice.ts";
