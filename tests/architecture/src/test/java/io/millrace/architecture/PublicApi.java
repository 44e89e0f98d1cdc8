package io.millrace.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.TypeVariable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What users can see of a module, as text: the public types of its exported packages with their public and protected members, in an order that does not depend on that of the sources. A change of a
 * line is a change that somebody's program may notice: of a name, a type, what may be null, what is thrown, the value of a constant.
 */
final class PublicApi {
    private static final int SEEN = Modifier.PUBLIC | Modifier.PROTECTED;

    private PublicApi() {}

    /** The text of the packages that a module exports to everybody. */
    static String of(String module, Set<String> packages, JavaClasses classes) {
        List<Class<?>> types = classes.stream()
                .filter(type -> packages.contains(type.getPackageName()))
                .map(JavaClass::reflect)
                .filter(PublicApi::isSeen)
                .sorted((a, b) -> a.getName().compareTo(b.getName()))
                .collect(Collectors.toList());
        StringBuilder text = new StringBuilder("# What users see of " + module
                + ". Written by tools/api, compared by every build: a changed line is a changed API.\n");
        for (Class<?> type : types) {
            text.append('\n').append(header(type)).append('\n');
            members(type).forEach(member -> text.append("    ").append(member).append('\n'));
        }
        return text.toString();
    }

    private static boolean isSeen(Class<?> type) {
        for (Class<?> outer = type; outer != null; outer = outer.getDeclaringClass()) {
            if ((outer.getModifiers() & SEEN) == 0) {
                return false;
            }
        }
        return !type.isSynthetic() && !type.isAnonymousClass() && !type.isLocalClass();
    }

    private static String header(Class<?> type) {
        String kind = type.isAnnotation()
                ? "@interface"
                : type.isInterface() ? "interface" : type.isEnum() ? "enum" : type.isRecord() ? "record" : "class";
        int shown = type.getModifiers() & (SEEN | Modifier.ABSTRACT | Modifier.FINAL | Modifier.STATIC);
        if (type.isInterface()) {
            shown &= ~(Modifier.ABSTRACT | Modifier.STATIC);
        }
        StringBuilder text = new StringBuilder(Modifier.toString(shown))
                .append(type.isSealed() ? " sealed " : " ")
                .append(kind)
                .append(' ')
                .append(type.getName())
                .append(variables(type.getTypeParameters()));
        if (type.getSuperclass() != null
                && type.getSuperclass() != Object.class
                && !type.isEnum()
                && !type.isRecord()) {
            text.append(" extends ").append(name(type.getAnnotatedSuperclass()));
        }
        if (type.getInterfaces().length > 0) {
            text.append(type.isInterface() ? " extends " : " implements ").append(names(type.getAnnotatedInterfaces()));
        }
        if (type.isRecord()) {
            text.append(Arrays.stream(type.getRecordComponents())
                    .map(component -> name(component.getAnnotatedType()) + " " + component.getName())
                    .collect(Collectors.joining(", ", " (", ")")));
        }
        return text.append(deprecation(type.isAnnotationPresent(Deprecated.class)))
                .toString();
    }

    /** Its own, and those that it has from superclasses that users do not see. */
    private static Set<String> members(Class<?> type) {
        Set<String> members = new TreeSet<>(declared(type));
        for (Class<?> hidden = type.getSuperclass();
                hidden != null && !isSeen(hidden);
                hidden = hidden.getSuperclass()) {
            members.addAll(declared(hidden));
        }
        return members;
    }

    private static List<String> declared(Class<?> type) {
        List<String> members = new ArrayList<>();
        for (Field field : type.getDeclaredFields()) {
            if ((field.getModifiers() & SEEN) != 0 && !field.isSynthetic()) {
                members.add(field.isEnumConstant() ? field.getName() : describe(field));
            }
        }
        for (Method method : type.getDeclaredMethods()) {
            if ((method.getModifiers() & SEEN) != 0 && !method.isSynthetic()) {
                members.add(describe(method));
            }
        }
        if (isSeen(type)) {
            for (Constructor<?> constructor : type.getDeclaredConstructors()) {
                if ((constructor.getModifiers() & SEEN) != 0 && !constructor.isSynthetic()) {
                    members.add(describe(constructor));
                }
            }
        }
        return members;
    }

    private static String describe(Field field) {
        return modifiers(field.getModifiers(), Modifier.fieldModifiers())
                + name(field.getAnnotatedType())
                + " "
                + field.getName()
                + constant(field)
                + deprecation(field.isAnnotationPresent(Deprecated.class));
    }

    /** javac copies the value of such a constant into the programs that use it. */
    private static String constant(Field field) {
        int modifiers = field.getModifiers();
        Class<?> type = field.getType();
        if (!Modifier.isPublic(modifiers)
                || !Modifier.isStatic(modifiers)
                || !Modifier.isFinal(modifiers)
                || !(type.isPrimitive() || type == String.class)) {
            return "";
        }
        try {
            return " = " + field.get(null);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(field + " cannot be read", e);
        }
    }

    private static String describe(Executable each) {
        StringBuilder text = new StringBuilder(modifiers(
                each.getModifiers(),
                each instanceof Method ? Modifier.methodModifiers() : Modifier.constructorModifiers()));
        if (each instanceof Method method && method.isDefault()) {
            text.append("default ");
        }
        text.append(variables(each.getTypeParameters()));
        if (each.getTypeParameters().length > 0) {
            text.append(' ');
        }
        if (each instanceof Method) {
            text.append(name(each.getAnnotatedReturnType())).append(' ').append(each.getName());
        } else {
            text.append(((Constructor<?>) each).getDeclaringClass().getSimpleName());
        }
        text.append('(').append(names(each.getAnnotatedParameterTypes())).append(')');
        if (each.isVarArgs()) {
            text.append(" varargs");
        }
        if (each.getExceptionTypes().length > 0) {
            text.append(" throws ").append(names(each.getAnnotatedExceptionTypes()));
        }
        return text.append(deprecation(each.isAnnotationPresent(Deprecated.class)))
                .toString();
    }

    /** Whether a method is native or synchronized is nobody's business but its own. */
    private static String modifiers(int modifiers, int possible) {
        String text = Modifier.toString(modifiers & possible & ~(Modifier.SYNCHRONIZED | Modifier.NATIVE));
        return text.isEmpty() ? "" : text + " ";
    }

    private static String deprecation(boolean present) {
        return present ? " (deprecated)" : "";
    }

    private static String variables(TypeVariable<?>[] variables) {
        return variables.length == 0
                ? ""
                : Arrays.stream(variables)
                        .map(variable -> variable + bounds(names(variable.getAnnotatedBounds())))
                        .collect(Collectors.joining(", ", "<", ">"));
    }

    private static String bounds(String bounds) {
        return bounds.equals("Object") ? "" : " extends " + bounds;
    }

    private static String names(AnnotatedType... types) {
        return Arrays.stream(types).map(PublicApi::name).collect(Collectors.joining(", "));
    }

    private static String name(AnnotatedType type) {
        return type.toString()
                .replaceAll("@org\\.jspecify\\.annotations\\.Nullable(\\(\\))?", "@Nullable")
                .replaceAll("\\bjava\\.lang\\.(?=[@A-Z])", "");
    }
}
