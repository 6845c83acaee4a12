/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/health/health-plan.h"
#include "libstart/request/health-command.h"

void health_plan_free(HealthPlan *plan) {
        if (!plan)
                return;
        g_free(plan->name);
        g_free(plan->runtime);
        g_free(plan->log_directory);
        g_strfreev(plan->regular.command);
        g_strfreev(plan->startup.command);
        g_free(plan);
}

/* As Podman: what the image does not say is 30 s, but for retries, where it is "at the first failure"; what the
 * options say beside --health-cmd is not for the image's check. */
static void take_image(HealthPlan *plan, const ImageHealth *image) {
        char **test = image->test;

        if (!test[0] || !test[0][0] || g_str_equal(test[0], "NONE"))
                return;
        if (g_str_equal(test[0], "CMD-SHELL"))
                plan->regular.command = test[1] ? health_command_for_shell(test + 1) : NULL;
        else
                plan->regular.command = g_strdupv(g_str_equal(test[0], "CMD") ? test + 1 : test);
        if (plan->regular.command && !plan->regular.command[0])
                g_clear_pointer(&plan->regular.command, g_strfreev);
        /* Each check costs the machine something that the container's limits do not count. */
        plan->regular.interval = MAX(image->interval ?: HEALTH_SPAN_DEFAULT, G_USEC_PER_SEC);
        plan->regular.timeout = image->timeout ?: HEALTH_SPAN_DEFAULT;
        plan->regular.retries = image->retries;
        plan->start_period = image->start_period;
        plan->timer = HEALTH_TIMER_TRANSIENT;
}

static bool check_needs(const ContainerRequest *request, GError **error) {
        const char *option = request->notify == NOTIFY_HEALTHY            ? "--sdnotify=healthy" :
                             request->health.startup.command              ? "--health-startup-cmd" :
                             request->health.on_failure != HEALTH_NOTHING ? "--health-on-failure" :
                                                                            NULL;

        /* Where a check was switched off on purpose, nothing is to follow from it. */
        if (!option || (g_str_equal(option, "--health-on-failure") && request->health.off))
                return true;
        return error_set(
                error, KT_ERROR_USAGE,
                "%s: there is no health check: give HealthCmd=, or an image of Docker's format with a HEALTHCHECK",
                option);
}

bool health_plan_make(const ContainerRequest *request, const ImageHealth *image, HealthPlan **ret, GError **error) {
        const HealthRequest *health = &request->health;
        g_autoptr(HealthPlan) plan = g_new0(HealthPlan, 1);

        *ret = NULL;
        plan->name = g_strdup(request->name);
        plan->start_period = health->start_period;
        plan->timer = HEALTH_TIMER_UNIT;
        plan->regular = health->regular;
        plan->regular.command = g_strdupv(health->regular.command);
        plan->startup = health->startup;
        plan->startup.command = g_strdupv(health->startup.command);
        if (!plan->regular.command && !health->off && image)
                take_image(plan, image);
        if (!plan->regular.command)
                return check_needs(request, error);
        if (plan->regular.interval == 0)
                plan->timer = HEALTH_TIMER_NONE;
        plan->on_failure = health->on_failure;
        plan->log = health->log;
        plan->log_directory = g_strdup(health->log_directory);
        plan->max_log_count = health->max_log_count;
        plan->max_log_size = health->max_log_size;
        plan->unconfined = request->unconfined;
        plan->runtime = g_strdup(request->runtime);
        plan->notify = request->notify == NOTIFY_HEALTHY;
        *ret = g_steal_pointer(&plan);
        return true;
}

/*
 * Written down
 */

static void print_command(GString *text, const char *name, char *const *words) {
        for (; words && *words; words++) {
                g_autofree char *word = g_strescape(*words, NULL);

                g_string_append_printf(text, "%s %s\n", name, word);
        }
}

/* Every number of a plan, by its name. */
typedef struct Number {
        const char *name;
        size_t offset, size;
} Number;

#define NUMBER(name, field) { name, offsetof(HealthPlan, field), sizeof(((HealthPlan *) NULL)->field) }

static const Number numbers[] = {
        NUMBER("interval", regular.interval),
        NUMBER("timeout", regular.timeout),
        NUMBER("retries", regular.retries),
        NUMBER("startup-interval", startup.interval),
        NUMBER("startup-timeout", startup.timeout),
        NUMBER("startup-retries", startup.retries),
        NUMBER("startup-successes", startup.successes),
        NUMBER("timer", timer),
        NUMBER("start-period", start_period),
        NUMBER("started", started),
        NUMBER("on-failure", on_failure),
        NUMBER("log", log),
        NUMBER("max-log-count", max_log_count),
        NUMBER("max-log-size", max_log_size),
        NUMBER("filters", filters),
        NUMBER("unconfined", unconfined),
        NUMBER("notify", notify),
};

static guint64 get_number(const HealthPlan *plan, const Number *number) {
        const void *field = (const char *) plan + number->offset;

        return number->size == sizeof(guint64) ? *(const guint64 *) field :
               number->size == sizeof(guint)   ? *(const guint *) field :
                                                 *(const bool *) field;
}

static void set_number(HealthPlan *plan, const Number *number, guint64 value) {
        void *field = (char *) plan + number->offset;

        if (number->size == sizeof(guint64))
                *(guint64 *) field = value;
        else if (number->size == sizeof(guint))
                *(guint *) field = (guint) value;
        else
                *(bool *) field = value;
}

char *health_plan_print(const HealthPlan *plan) {
        GString *text = g_string_new(NULL);

        g_string_append_printf(text, "name %s\n", plan->name);
        print_command(text, "command", plan->regular.command);
        print_command(text, "startup-command", plan->startup.command);
        if (plan->runtime)
                print_command(text, "runtime", (char *const[]) { plan->runtime, NULL });
        if (plan->log_directory)
                print_command(text, "log-directory", (char *const[]) { plan->log_directory, NULL });
        for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
                g_string_append_printf(text, "%s %" G_GUINT64_FORMAT "\n", numbers[i].name,
                                       get_number(plan, &numbers[i]));
        return g_string_free(text, FALSE);
}

/* NULL where it ends within an escape sequence, of which g_strcompress() only warns. */
static char *unescape(const char *escaped) {
        size_t length = strlen(escaped), n = 0;

        while (n < length && escaped[length - n - 1] == '\\')
                n++;
        return n % 2 == 0 ? g_strcompress(escaped) : NULL;
}

static bool take_text(char **text, const char *escaped) {
        if (*text)
                return false;
        *text = unescape(escaped);
        return *text;
}

static bool add_word(char ***words, const char *escaped) {
        size_t n = *words ? g_strv_length(*words) : 0;

        *words = g_renew(char *, *words, n + 2);
        (*words)[n] = unescape(escaped);
        (*words)[n + 1] = NULL;
        return (*words)[n];
}

static bool parse_line(HealthPlan *plan, const char *name, const char *value) {
        guint64 number;

        if (g_str_equal(name, "command"))
                return add_word(&plan->regular.command, value);
        if (g_str_equal(name, "startup-command"))
                return add_word(&plan->startup.command, value);
        if (g_str_equal(name, "log-directory"))
                return take_text(&plan->log_directory, value);
        if (g_str_equal(name, "runtime"))
                return take_text(&plan->runtime, value);
        if (g_str_equal(name, "name") && !plan->name) {
                plan->name = g_strdup(value);
                return true;
        }
        for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
                if (g_str_equal(name, numbers[i].name) &&
                    g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT64, &number, NULL)) {
                        set_number(plan, &numbers[i], number);
                        return true;
                }
        return false;
}

/* Reads what can be read; the error is of the first line that cannot. */
static bool parse(HealthPlan *plan, const char *text, GError **error) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        const char *wrong = NULL;

        for (char **line = lines; *line; line++) {
                char *blank = strchr(*line, ' ');

                if (!**line)
                        continue;
                if (blank)
                        *blank = '\0';
                if ((!blank || !parse_line(plan, *line, blank + 1)) && !wrong)
                        wrong = *line;
        }
        if (wrong)
                return error_set(error, KT_ERROR_FAILED, "it has a line '%s' that means nothing", wrong);
        return (plan->name && plan->regular.command && plan->on_failure <= HEALTH_STOP &&
                (plan->log == HEALTH_LOG_FILE) == (plan->log_directory != NULL)) ||
               error_set(error, KT_ERROR_FAILED, "it is not complete");
}

HealthPlan *health_plan_parse(const char *text, GError **error) {
        g_autoptr(HealthPlan) plan = g_new0(HealthPlan, 1);

        return parse(plan, text, error) ? g_steal_pointer(&plan) : NULL;
}

HealthPlan *health_plan_salvage(const char *text, GError **damage) {
        g_autoptr(HealthPlan) plan = g_new0(HealthPlan, 1);

        plan->regular.retries = HEALTH_RETRIES_DEFAULT;
        plan->max_log_count = HEALTH_LOG_COUNT_DEFAULT;
        if (!parse(plan, text, damage)) {
                plan->on_failure = plan->on_failure <= HEALTH_STOP ? plan->on_failure : HEALTH_NOTHING;
                g_clear_pointer(&plan->log_directory, g_free);
        }
        return plan->name ? g_steal_pointer(&plan) : NULL;
}
