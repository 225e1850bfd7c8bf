import { answerQuestions } from "../kit/threads.ts";
import { checkShare } from "./check-share.ts";

answerQuestions(checkShare);
