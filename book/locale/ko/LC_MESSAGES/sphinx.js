// The search page's words, in place of Sphinx's: in Sphinx 9, the sentence that counts
// the pages is empty in Korean. Sphinx 7 has another sentence for it.
Documentation.addTranslations({
  locale: "ko",
  messages: {
    "Hide Search Matches": "찾은 말 표시 지우기",
    "Preparing search...": "검색 준비 중…",
    Searching: "검색 중",
    "Search Results": "검색 결과",
    "Search finished, found ${resultCount} page(s) matching the search query.":
      "검색어가 있는 쪽은 모두 ${resultCount}쪽입니다.",
    "Search finished, found one page matching the search query.": [
      "검색어가 있는 쪽은 모두 ${resultCount}쪽입니다.",
    ],
    "Your search did not match any documents. Please make sure that all words are spelled correctly and that you've selected enough categories.":
      "검색어가 있는 쪽이 없습니다. 철자를 확인하세요.",
  },
  plural_expr: "0",
});
