// gbnf-match: texts against GBNF grammars, by the code that llama-server samples with.
//
//     gbnf-match GRAMMAR_FILE TEXT_FILE
//     gbnf-match < cases.jsonl
//
// A case is a line of JSON: {"grammar": "root ::= …", "text": "…"}. Without "grammar", the grammar of the case
// before it applies. The answer is a line of JSON, flushed at once:
//
//     {"accepted": true}
//     {"accepted": false, "position": 7, "reason": "unexpected character"}
//     {"accepted": false, "position": 12, "reason": "unexpected end"}
//     {"error": "…"}
//
// A position counts Unicode characters. The root rule is `root`. Two files are answered in the same way; the exit
// status is then 0 for accepted, 1 for not accepted, 2 for an error. In a stream it is 0.

#include "llama-grammar.h"
#include "unicode.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

using json = nlohmann::ordered_json;

namespace {

// llama.cpp appends the rest of the grammar to its messages.
constexpr size_t MAX_MESSAGE = 300;

struct grammar_deleter {
    void operator()(llama_grammar * grammar) const { llama_grammar_free_impl(grammar); }
};
using grammar_ptr = std::unique_ptr<llama_grammar, grammar_deleter>;

// llama.cpp writes the reason for which it refuses a grammar to standard error, and returns none.
class captured_stderr {
  public:
    captured_stderr() : file(std::tmpfile()), saved(dup(STDERR_FILENO)) {
        if (file != nullptr) {
            std::fflush(stderr);
            dup2(fileno(file), STDERR_FILENO);
        }
    }
    ~captured_stderr() {
        restore();
        close(saved);
        if (file != nullptr) {
            std::fclose(file);
        }
    }
    std::string text() {
        restore();
        std::string found;
        if (file != nullptr) {
            std::rewind(file);
            found.resize(MAX_MESSAGE);
            found.resize(std::fread(&found[0], 1, MAX_MESSAGE, file));
        }
        return found;
    }

  private:
    void restore() {
        std::fflush(stderr);
        dup2(saved, STDERR_FILENO);
    }
    std::FILE * file;
    int saved;
};

// A grammar, and the state before the first character, which each text starts from.
struct matcher {
    explicit matcher(const std::string & source) : source(source) {
        captured_stderr messages;
        grammar.reset(
            llama_grammar_init_impl(nullptr, source.c_str(), "root", false, nullptr, 0, nullptr, 0));
        if (!grammar) {
            throw std::runtime_error("llama.cpp refuses the grammar: " + messages.text());
        }
        initial = llama_grammar_get_stacks(grammar.get());
    }

    json match(const std::string & text) {
        llama_grammar_stacks & stacks = llama_grammar_get_stacks(grammar.get());
        stacks = initial;
        size_t position = 0;
        for (const uint32_t character : unicode_cpts_from_utf8(text)) {
            llama_grammar_accept(grammar.get(), character);
            if (stacks.empty()) {
                return refused(position, "unexpected character");
            }
            ++position;
        }
        for (const llama_grammar_stack & stack : stacks) {
            if (stack.empty()) {
                return {{"accepted", true}};
            }
        }
        return refused(position, "unexpected end");
    }

    std::string source;

  private:
    static json refused(size_t position, const char * reason) {
        return {{"accepted", false}, {"position", position}, {"reason", reason}};
    }
    grammar_ptr grammar;
    llama_grammar_stacks initial;
};

json answer(const json & test_case, std::unique_ptr<matcher> & current) {
    const auto grammar = test_case.find("grammar");
    if (grammar != test_case.end()) {
        const auto & source = grammar->get_ref<const std::string &>();
        if (!current || current->source != source) {
            current.reset();
            current = std::make_unique<matcher>(source);
        }
    }
    if (!current) {
        throw std::runtime_error("the case has no grammar, and neither has a case before it");
    }
    return current->match(test_case.at("text").get_ref<const std::string &>());
}

void print(const json & line) {
    std::cout << line.dump(-1, ' ', true, json::error_handler_t::replace) << std::endl;
}

std::string read_file(const char * path) {
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file.is_open() || file.bad()) {
        throw std::runtime_error(std::string("cannot read ") + path);
    }
    return text;
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc == 3) {
        try {
            const json found = matcher(read_file(argv[1])).match(read_file(argv[2]));
            print(found);
            return found["accepted"].get<bool>() ? 0 : 1;
        } catch (const std::exception & error) {
            print({{"error", error.what()}});
            return 2;
        }
    }
    if (argc != 1) {
        std::fprintf(stderr, "usage: gbnf-match [GRAMMAR_FILE TEXT_FILE]\n");
        return 2;
    }
    std::unique_ptr<matcher> current;
    std::string line;
    while (std::getline(std::cin, line)) {
        try {
            print(answer(json::parse(line), current));
        } catch (const std::exception & error) {
            print({{"error", error.what()}});
        }
    }
    return 0;
}
