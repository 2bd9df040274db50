// What the parts of the script find in the page: see `course_book/live.py`.

/** The function around all parts; a worker is made of its text. */
declare function courseLive(): void;

interface Window {
  /** The shipped model, from `tiny-model.js`: its weights are files in base64. */
  CourseModel: { config: Config; words: Words; weights: string[] };
}
