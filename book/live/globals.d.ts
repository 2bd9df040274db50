// What the parts of the script find in the page: see `course_book/live.py`.

/** The function around all parts; a worker is made of its text. */
declare function courseLive(): void;

// Younger than the browsers that the figure is for: used where there is one.
interface Uint8ArrayConstructor {
  fromBase64?(text: string): Uint8Array<ArrayBuffer>;
}
declare var Float16Array: { new (bytes: ArrayBuffer): ArrayLike<number> };

interface Window {
  /** The shipped model, from `tiny-model.js`: its weights are files in base64. */
  CourseModel: { config: Config; words: Words; weights: string[] };
}
