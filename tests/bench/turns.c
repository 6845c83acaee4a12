/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* usage: turns ROUNDS PAUSE < PLAN
 *
 * Runs the commands of a plan in turns, PAUSE milliseconds apart, and prints for each how many nanoseconds
 * passed from its vfork to its end. In turns, so that whatever else the machine does hits all of them alike;
 * in one process beside them, so that no interpreter and no way into a machine is in between.
 *
 * A line of PLAN is NAME and the command's words, all separated by tabs. Words with '=' before the command's
 * name are variables of its environment. '@@' in a word becomes a number that no other start has. A line
 * without a NAME is run, but not measured. A first round, which warms up, is not measured either. All
 * commands must succeed. */
#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 1024, WORDS = 256 };

typedef struct Command {
        char *name;
        char *words[WORDS];
        char **environment;
} Command;

static Command plan[LINES];

static void *must(void *memory) {
        if (!memory)
                err(125, "no memory");
        return memory;
}

static void add_variable(Command *command, char *variable) {
        size_t count = 0;

        while (command->environment && command->environment[count])
                count++;
        command->environment = must(realloc(command->environment, (count + 2) * sizeof(char *)));
        command->environment[count] = variable;
        command->environment[count + 1] = NULL;
}

static void parse(char *line, Command *command) {
        size_t words = 0;

        line[strcspn(line, "\n")] = '\0';
        command->name = strsep(&line, "\t");
        for (char **variable = environ; *variable; variable++)
                add_variable(command, *variable);
        for (char *word; (word = strsep(&line, "\t"));) {
                if (words == WORDS - 1)
                        errx(125, "too many words in '%s'", command->name);
                if (words == 0 && strchr(word, '='))
                        add_variable(command, word);
                else
                        command->words[words++] = word;
        }
        if (words == 0)
                errx(125, "no command in '%s'", command->name);
}

static size_t read_plan(void) {
        size_t count = 0, size = 0;

        for (char *line = NULL; getline(&line, &size, stdin) > 0; line = NULL) {
                if (count == LINES)
                        errx(125, "more than %d lines", LINES);
                parse(line, &plan[count++]);
        }
        return count;
}

/* The words with a number in place of each '@@', or the word itself where there is none. */
static void number_words(char *const *words, char **ret) {
        static unsigned int starts;

        starts++;
        for (; *words; words++, ret++) {
                char *at = strstr(*words, "@@");

                *ret = *words;
                if (at && asprintf(ret, "%.*s%u%s", (int) (at - *words), *words, starts, at + 2) < 0)
                        must(NULL);
        }
        *ret = NULL;
}

static long long nanoseconds(void) {
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long run(const Command *command, posix_spawn_file_actions_t *files) {
        char *words[WORDS];
        long long began;
        int status, error;
        pid_t pid;

        number_words(command->words, words);
        began = nanoseconds();
        error = posix_spawnp(&pid, words[0], files, NULL, words, command->environment);
        if (error != 0)
                errx(125, "'%s' (%s): %s", command->name, words[0], strerror(error));
        if (waitpid(pid, &status, 0) < 0)
                err(125, "waitpid");
        long long took = nanoseconds() - began;
        if (status != 0)
                errx(1, "'%s' (%s) ended with %d", command->name, words[0],
                     WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        return took;
}

int main(int argc, char **argv) {
        posix_spawn_file_actions_t files;
        size_t count;

        if (argc != 3)
                errx(2, "usage: turns ROUNDS PAUSE < PLAN");
        count = read_plan();
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        for (int round = 0; round <= atoi(argv[1]); round++)
                for (size_t i = 0; i < count; i++) {
                        usleep((useconds_t) atoi(argv[2]) * 1000);
                        long long took = run(&plan[i], &files);
                        if (round > 0 && plan[i].name[0])
                                printf("%s\t%lld\n", plan[i].name, took);
                }
        return 0;
}
